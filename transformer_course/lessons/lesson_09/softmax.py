"""`softmax`: how it is tried."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.aspects import dtype, shape, special, untouched, values
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.drawing import normal

AXIS = special("another axis", weight=1.5, meaning="The axis that is passed in is the one along which rows add up.")
LARGE = special("very large numbers", weight=1.5, meaning="Numbers far from 0 give the right result, not NaN.")
FLOAT32 = special("float32")


def cases(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 2, 6)
    huge = normal(generator, a, b) * 3
    huge[0, 0], huge[1, 1] = 800.0, -800.0
    low = normal(generator, a, b)
    low[0] -= 2000.0
    return [
        Case.of("on a matrix", x=normal(generator, a, b)),
        Case.of("on three axes", x=normal(generator, a, b, c)),
        Case.of("on a single row", x=normal(generator, c + 1)),
        Case.of("along another axis", AXIS, x=normal(generator, a, b, c), axis=1),
        Case.of("along the first axis of a square", AXIS, x=normal(generator, b, b), axis=0),
        Case.of("on very large numbers", LARGE, x=huge),
        Case.of("where all numbers of a row are far below 0", LARGE, x=low),
        Case.of("with float32", FLOAT32, x=normal(generator, a, b, dtype=np.float32)),
    ]


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=1,
    cases=cases,
    aspects=(shape(), values(), AXIS, LARGE, dtype(), FLOAT32, untouched()),
)
