"""`load_checkpoint`: how it is tried. The probe runs a small training run."""

from __future__ import annotations

from functools import partial

from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_08.runs import CALLED, CODE, DEVICE, PARTS, resumed, runs

TRIAL = Trial(
    module="transformer_course.paper.checkpoints",
    points=2,
    cases=partial(runs, interrupted=False),
    called=CALLED
    | {
        "output": "the step",
        "losses": "the losses that follow",
        "parameters": "the model's parameters",
        "file": "the file",
    },
    aspects=(
        *PARTS,
        resumed("step", "output", weight=1.5, meaning="The result is the step in the file, as a Python int."),
        resumed(
            "the same parameters",
            "parameters",
            weight=0.5,
            meaning="The numbers go into the model's own parameters, which the optimiser steps.",
        ),
        CODE,
        DEVICE,
        resumed("modes untouched", "modes", weight=0.5, meaning="The model stays in the mode it is in."),
        resumed(
            "a second load",
            "file",
            "a_second_load",
            weight=0.5,
            meaning="The file can be loaded again, and brings the same random numbers again.",
        ),
    ),
)
