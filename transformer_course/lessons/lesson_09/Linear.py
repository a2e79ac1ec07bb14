"""`Linear`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.drawing import (
    BATCH_OF_ONE,
    CALLED,
    FIRST_SIZES,
    FLOAT32,
    Inputs,
    linear,
    normal,
    of_layer,
    there_and_back,
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d_in, d_out = dims(generator, 4, 2, 7)

    def draw(*front: int, sizes: tuple[int, int] = (d_in, d_out), kind: Any = np.float64) -> Inputs:
        return {
            "sizes": list(sizes),
            "weights": linear(generator, "", *sizes, kind),
            "arguments": [normal(generator, *front, sizes[0], dtype=kind)],
            "gradient": normal(generator, *front, sizes[1], dtype=kind),
            "other_arguments": [normal(generator, 2, *front, sizes[0], dtype=kind)],
            "other_gradient": normal(generator, 2, *front, sizes[1], dtype=kind),
        }

    return there_and_back(
        Case.of("on rows", **draw(n)),
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("with as many outputs as inputs, and as many rows", **draw(d_in, sizes=(d_in, d_in))),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1)),
        Case.of("with float32", FLOAT32, **draw(n, length, kind=np.float32)),
        Case.of("when it is new", FIRST_SIZES, sizes=[400, 8], begins={"weight": 400**-0.5}),
        Case.of("when it is new, with few inputs", FIRST_SIZES, sizes=[8, 400], begins={"weight": 8**-0.5}),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.layers",
    points=3,
    cases=cases,
    called=CALLED,
    aspects=of_layer(BATCH_OF_ONE, FLOAT32, FIRST_SIZES, beginning=True),
)
