"""`softmax`: how it is tried."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.aspects import dtype, main, shape, special, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import normal
from transformer_course.lessons.lesson_09.shares import of_softmax
from transformer_course.lessons.watching import AS_ASKED

SEEN = ("shares", "output")
AXIS = special("another axis", "", 1.5, "The axis that is passed in is the one along which rows add up.", SEEN)
LARGE = special("very large numbers", "", 1.5, "Numbers far from 0 give the right result, not NaN.", SEEN)
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


def in_words(observation: Observation, case: Case) -> Observation:
    """And what the numbers add up to, and go by, said first."""
    if "error" in observation:
        return observation
    output = observation.get("output")
    words = of_softmax(output, case.inputs["x"], case.inputs.get("axis", -1))
    if words != AS_ASKED and isinstance(output, np.ndarray) and np.isnan(output).any():
        return {**observation, "shares": words, "output": words}  # why it is NaN says more than where
    return {"shares": words, **observation}


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"shares": "what your numbers add up to"},
    aspects=(
        shape(),
        main("values", keys=SEEN, meaning="Each entry of the result should be right, not only its shape."),
        AXIS,
        LARGE,
        dtype(),
        FLOAT32,
        untouched(),
    ),
)
