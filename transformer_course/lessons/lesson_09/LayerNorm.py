"""`LayerNorm`: how it is tried."""

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
    back,
    norm,
    normal,
    of_layer,
    of_some_cases,
    there_and_back,
)

EPS = of_some_cases("eps", meaning="eps is inside the root, and the one that is passed in is used.")
EPS_BACK = back(EPS, meaning="Where eps matters, backward is right as well.")


LARGE = 1e6
"""Numbers of this size: where the usual eps stands can't be seen there."""


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 3, 7)

    def draw(*front: int, kind: Any = np.float64, wide: float = LARGE, eps: float | None = None) -> Inputs:
        def numbers(*axes: int) -> np.ndarray:
            return (normal(generator, *axes, *front, d) * wide + wide).astype(kind)

        return {
            "sizes": [d] if eps is None else [d, eps],
            "weights": norm(generator, "", d, kind),
            "arguments": [numbers()],
            "gradient": normal(generator, *front, d, dtype=kind),
            "other_arguments": [numbers(2)],
            "other_gradient": normal(generator, 2, *front, d, dtype=kind),
        }

    return there_and_back(
        Case.of("on rows", **draw(n)),
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("on numbers so small that eps matters", EPS, **draw(n, wide=0.01)),
        Case.of("with another eps", EPS, **draw(n, wide=2.0, eps=0.5)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1)),
        Case.of("with float32", FLOAT32, **draw(n, length, kind=np.float32, wide=200.0)),
        special=(EPS,),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.layers",
    points=4,
    cases=cases,
    called=CALLED,
    aspects=of_layer(EPS, EPS_BACK, BATCH_OF_ONE, FLOAT32, beginning=True),
)
