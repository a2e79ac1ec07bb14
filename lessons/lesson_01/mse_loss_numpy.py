"""`mse_loss_numpy`: how it is tried. Its cases are those of `mse_loss`, but for the layout in memory."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import BATCH_OF_ONE, FLOAT64, LAYOUT, untouched, values
from grader.authoring.spec import Case, Trial
from lessons.lesson_01 import mse_loss
from lessons.lesson_01.drawing import to_numpy
from lessons.lesson_01.single_number import ONE_NUMBER, one_number


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        Case(case.label, to_numpy(dict(case.inputs)), case.tags)
        for case in mse_loss.cases(generator)
        if case.tags != LAYOUT.tags
    ]


TRIAL = Trial(
    module="course.mlp_numpy",
    points=1,
    cases=cases,
    canonical=one_number,
    aspects=(ONE_NUMBER, values(), mse_loss.ONE_OUTPUT, BATCH_OF_ONE, FLOAT64, untouched()),
)
