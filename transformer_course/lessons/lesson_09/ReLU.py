"""`ReLU`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.drawing import (
    BATCH_OF_ONE,
    CALLED,
    FLOAT32,
    Inputs,
    normal,
    of_layer,
    there_and_back,
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 3, 7)

    def draw(*shape: int, kind: Any = np.float64) -> Inputs:
        def mixed() -> np.ndarray:
            numbers = normal(generator, *shape, dtype=kind)
            numbers.flat[0], numbers.flat[1] = (
                7.5,
                -7.5,
            )  # some of each kind in every draw, and none too large for a ReLU
            return numbers

        return {
            "sizes": [],
            "weights": {},
            "arguments": [mixed()],
            "gradient": mixed()[..., ::-1].copy(),
            "other_arguments": [-mixed()],
            "other_gradient": mixed(),
            "any_beginning": True,
        }

    return there_and_back(
        Case.of("on a matrix", **draw(n, d)),
        Case.of("on three axes", **draw(n, length, d)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1, d)),
        Case.of("with float32", FLOAT32, **draw(n, d, kind=np.float32)),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.layers",
    points=1,
    cases=cases,
    called=CALLED,
    aspects=of_layer(BATCH_OF_ONE, FLOAT32, weights=False, parts=False, forward=1.5),
)
