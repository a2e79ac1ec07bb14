"""`mse_loss_numpy`: how it is tried. Its cases are those of `mse_loss`, but for the layout in memory."""

import numpy as np

from cellcheck.authoring.aspects import BATCH_OF_ONE, FLOAT64, LAYOUT, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_01 import mse_loss
from transformer_course.lessons.lesson_01.single_number import ONE_NUMBER


def cases(generator: np.random.Generator) -> list[Case]:
    return [case for case in mse_loss.in_arrays(generator) if case.tags != LAYOUT.tags]


TRIAL = Trial(
    module="transformer_course.mlp_numpy",
    points=1,
    cases=cases,
    canonical=mse_loss.in_words,
    called=mse_loss.CALLED,
    aspects=(ONE_NUMBER, mse_loss.VALUES, mse_loss.ONE_OUTPUT, BATCH_OF_ONE, FLOAT64, untouched()),
)
