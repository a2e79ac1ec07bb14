"""`save_checkpoint`: how it is tried. The probe runs a small training run."""

from __future__ import annotations

from functools import partial

from grader.authoring.spec import Trial
from lessons.lesson_08.runs import INTERRUPTED, PARTS, resumed, runs

TRIAL = Trial(
    module="course.paper.checkpoints",
    points=2,
    cases=partial(runs, interrupted=True),
    called={"losses": "the losses of a run that goes on from it", "file": "the file", "run": "the run"},
    aspects=(
        *PARTS,
        resumed("step", "step", weight=1.0, meaning="The step is there, as it was handed in."),
        resumed(
            "a dictionary of plain data",
            "file",
            weight=1.0,
            meaning="The file is at the path, and holds a dictionary that can be read without running any code.",
        ),
        resumed(
            "the run untouched",
            "run",
            "modes",
            weight=1.0,
            meaning="Saving changes neither the run nor its mode, and draws no random numbers.",
        ),
        INTERRUPTED,
    ),
)
