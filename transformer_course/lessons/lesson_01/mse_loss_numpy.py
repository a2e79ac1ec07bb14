"""`mse_loss_numpy`: how it is tried. Its cases are those of `mse_loss`, but for the layout in memory."""

import numpy as np

from cellcheck.authoring.aspects import BATCH_OF_ONE, FLOAT64, LAYOUT, untouched, values
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_01 import mse_loss
from transformer_course.lessons.lesson_01.single_number import ONE_NUMBER, one_number


def cases(generator: np.random.Generator) -> list[Case]:
    return [case for case in mse_loss.in_arrays(generator) if case.tags != LAYOUT.tags]


TRIAL = Trial(
    module="transformer_course.mlp_numpy",
    points=1,
    cases=cases,
    canonical=one_number,
    aspects=(ONE_NUMBER, values(), mse_loss.ONE_OUTPUT, BATCH_OF_ONE, FLOAT64, untouched()),
)
