"""`save_checkpoint`: how it is tried. The probe runs a small training run."""

from __future__ import annotations

from functools import partial

from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_08.runs import CALLED, INTERRUPTED, PARTS, resumed, runs

TRIAL = Trial(
    module="transformer_course.paper.checkpoints",
    points=2,
    cases=partial(runs, interrupted=True),
    called=CALLED | {"losses": "the losses of a run that goes on from it", "file": "the file", "run": "the run"},
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
        resumed(
            "nothing written elsewhere first",
            "where_it_is_written_first",
            weight=1.0,
            meaning="What is written first is on the same disk, in the checkpoint's own folder: only there is a rename "
            "done at once or not at all.",
        ),
    ),
)
