"""`shift_matrix`: how it is tried."""

from dataclasses import replace

import numpy as np

from cellcheck.authoring.aspects import dtype, shape, values
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_06.drawing import draw_base
from transformer_course.lessons.lesson_06.waves import CALLED, TURN, in_words, of_matrix

NEGATIVE = special("a negative offset", "", 2.0, "An offset to an earlier position gives the right matrix too.")
SMALL = special("the offsets 0 and 1", meaning="The offsets 0 and 1 give the right matrix too.")
BASE = special("another base")
TWO_COLUMNS = special("two columns")


def cases(generator: np.random.Generator) -> list[Case]:
    near, half, other, far = dims(generator, 4, 2, 6)
    return [
        Case.of("with a small offset", offset=near, d_model=2 * half),
        Case.of("with another offset", offset=near + far, d_model=2 * other),
        Case.of("with a large offset", offset=20 + far, d_model=4),
        Case.of("with a negative offset", NEGATIVE, offset=-other, d_model=2 * half),
        Case.of("with the offset 0", SMALL, offset=0, d_model=2 * half),
        Case.of("with the offset 1", SMALL, offset=1, d_model=2 * far),
        Case.of("with two columns", TWO_COLUMNS, offset=near, d_model=2),
        Case.of("with another base", BASE, offset=near, d_model=2 * far, base=draw_base(generator)),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """What the matrix does to each pair, in words beside it."""
    return in_words(observation, of_matrix(observation.get("output"), **case.inputs), case)


TRIAL = Trial(
    module="transformer_course.positions",
    points=3,
    cases=cases,
    canonical=canonical,
    called=CALLED,
    aspects=(
        shape(),
        replace(values(), keys=(TURN, "output")),
        NEGATIVE,
        SMALL,
        BASE,
        TWO_COLUMNS,
        dtype("float32", meaning="The result is float32."),
    ),
)
