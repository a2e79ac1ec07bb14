"""`LayerNorm`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.draw import dims
from grader.authoring.spec import Case, Trial
from lessons.lesson_09.drawing import (
    BATCH_OF_ONE,
    CALLED,
    FLOAT32,
    Inputs,
    norm,
    normal,
    of_layer,
    of_some_cases,
)

EPS = of_some_cases("eps", meaning="eps is inside the root, and the one that is passed in is used.")


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 3, 7)

    def draw(*front: int, kind: Any = np.float64, wide: float = 2.0, eps: float | None = None) -> Inputs:
        def numbers() -> np.ndarray:
            return (normal(generator, *front, d) * wide + wide).astype(kind)

        return {
            "sizes": [d] if eps is None else [d, eps],
            "weights": norm(generator, "", d, kind),
            "arguments": [numbers()],
            "gradient": normal(generator, *front, d, dtype=kind),
            "other_arguments": [numbers()],
            "other_gradient": normal(generator, *front, d, dtype=kind),
        }

    return [
        Case.of("on rows", **draw(n)),
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("on numbers so small that eps matters", EPS, **draw(n, wide=0.01)),
        Case.of("with another eps", EPS, **draw(n, eps=0.5)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1)),
        Case.of("with float32", FLOAT32, **draw(n, length, kind=np.float32)),
    ]


TRIAL = Trial(
    module="course.numpy_transformer.layers",
    points=4,
    cases=cases,
    called=CALLED,
    aspects=of_layer(EPS, BATCH_OF_ONE, FLOAT32, beginning=True),
)
