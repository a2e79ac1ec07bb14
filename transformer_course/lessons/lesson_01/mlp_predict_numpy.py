"""`mlp_predict_numpy`: how it is tried. In NumPy, float64 is the usual thing, and float32 the one to keep."""

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import BATCH_OF_ONE, dtype, shape, special, untouched, values, worded
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_01.computed import CALLED, COMPUTED, in_words
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER
from transformer_course.lessons.lesson_01.networks import Float, NetworkSizes, draw_arrays

FLOAT32 = special("float32")


def cases(generator: np.random.Generator) -> list[Case]:
    sizes = NetworkSizes(generator)

    def drawn(widths: list[int], n: int, dtype: Float = np.float64) -> Any:
        return draw_arrays(generator, widths, n, dtype)

    return [*sizes.cases(drawn), Case.of("with float32", FLOAT32, **drawn(sizes.two, sizes.n, np.float32))]


TRIAL = Trial(
    module="transformer_course.mlp_numpy",
    points=2,
    cases=cases,
    canonical=in_words,
    called=CALLED,
    aspects=(shape(), worded(values(), COMPUTED), SINGLE_LAYER, BATCH_OF_ONE, dtype(), FLOAT32, untouched()),
)
