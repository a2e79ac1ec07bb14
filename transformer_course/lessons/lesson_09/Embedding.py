"""`Embedding`: how it is tried."""

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
    normal,
    of_layer,
    there_and_back,
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 2, 6)
    vocab = 9

    def draw(*shape: int, kind: Any = np.float64, alike: bool = True) -> Inputs:
        def ids() -> np.ndarray:
            drawn = generator.integers(0, vocab - 1, shape).astype(np.intp)  # np.take wants no wider ones
            if alike:
                drawn.flat[0] = drawn.flat[-1] = 3  # an id that comes twice, in every draw
            return drawn

        return {
            "sizes": [vocab, d],
            "weights": {"weight": normal(generator, vocab, d, dtype=kind)},
            "arguments": [ids()],
            "gradient": normal(generator, *shape, d, dtype=kind),
            "other_arguments": [ids()[..., :2]],
            "other_gradient": normal(generator, *shape[:-1], 2, d, dtype=kind),
        }

    return there_and_back(
        Case.of("on rows of ids", **draw(n, length)),
        Case.of("on a single row of ids", **draw(length + 2)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1, length)),
        Case.of("with float32", FLOAT32, **draw(n, length, kind=np.float32)),
        Case.of("when it is new", FIRST_SIZES, sizes=[80, 80], begins={"weight": 0.1}),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.layers",
    points=2,
    cases=cases,
    called=CALLED,
    aspects=of_layer(BATCH_OF_ONE, FLOAT32, FIRST_SIZES, beginning=True, returns=False, forward=1.5),
)
