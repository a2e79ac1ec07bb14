"""`FeedForward`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.draw import dims
from grader.authoring.spec import Case, Trial
from lessons.lesson_09.drawing import (
    CALLED,
    FLOAT32,
    ONE_POSITION,
    Inputs,
    feed_forward,
    normal,
    of_layer,
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 2, 5)
    wide = 2 * d + 1

    def draw(*front: int, kind: Any = np.float64) -> Inputs:
        return {
            "sizes": [d, wide],
            "weights": feed_forward(generator, "", d, wide, kind),
            "arguments": [normal(generator, *front, d, dtype=kind)],
            "gradient": normal(generator, *front, d, dtype=kind),
            "other_arguments": [normal(generator, *front, d, dtype=kind)],
            "other_gradient": normal(generator, *front, d, dtype=kind),
            "any_beginning": True,
        }

    return [
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("on other rows of positions", **draw(length, n)),
        Case.of("on a batch of one, a single position", ONE_POSITION, **draw(1, 1)),
        Case.of("with float32", FLOAT32, **draw(n, length, kind=np.float32)),
    ]


TRIAL = Trial(
    module="course.numpy_transformer.layers",
    points=2,
    cases=cases,
    called=CALLED,
    aspects=of_layer(ONE_POSITION, FLOAT32),
)
