"""`sinusoidal_positional_encoding`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import dtype, shape, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Trial
from lessons.aspects import special
from lessons.lesson_06.drawing import draw_base

BASE = special("another base", weight=2.0)
SINGLE = special("a single position", meaning="A single position gives the right result too.")
TWO_COLUMNS = special("two columns")


def cases(generator: np.random.Generator) -> list[Case]:
    length, half, other = dims(generator, 3, 3, 6)
    side = 2 * int(generator.integers(2, 5))
    return [
        Case.of("with a few positions", length=length, d_model=2 * half),
        Case.of("with more positions than columns", length=2 * other + length, d_model=2 * other),
        Case.of("with as many positions as columns", length=side, d_model=side),
        Case.of("with many positions", length=40 + length, d_model=4),
        Case.of("with a single position", SINGLE, length=1, d_model=2 * half),
        Case.of("with two columns", TWO_COLUMNS, length=length, d_model=2),
        Case.of("with another base", BASE, length=length + 10, d_model=2 * other, base=draw_base(generator)),
    ]


TRIAL = Trial(
    module="course.positions",
    points=3,
    cases=cases,
    aspects=(
        shape(),
        values(),
        BASE,
        SINGLE,
        TWO_COLUMNS,
        dtype("float32", meaning="The result is float32."),
    ),
)
