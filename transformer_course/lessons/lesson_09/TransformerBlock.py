"""`TransformerBlock`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.drawing import (
    CALLED,
    FLOAT32,
    ONE_POSITION,
    Inputs,
    back,
    block,
    normal,
    of_layer,
    of_some_cases,
    there_and_back,
    without_rounding,
)

D, HEADS, WIDE = 4, 2, 6
MASKED = of_some_cases("masks", 1.0, "The mask reaches the attention.")
MASKED_BACK = back(MASKED, meaning="With a mask, too, backward gives the right gradients.")


def cases(generator: np.random.Generator) -> list[Case]:
    b, n = (int(size) for size in generator.choice([2, 3, 5], 2, replace=False))

    def draw(b: int, n: int, mask: np.ndarray | None = None, kind: Any = np.float64) -> Inputs:
        def x(longer: int = 0) -> list[Any]:
            """The second time, with a longer row and without a mask."""
            row = normal(generator, b, n + longer, D, dtype=kind) * kind(2)
            return [row, *([] if mask is None or longer else [mask])]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": block(generator, ("attention",), D, WIDE, kind),
            "arguments": x(),
            "gradient": normal(generator, b, n, D, dtype=kind),
            "other_arguments": x(1),
            "other_gradient": normal(generator, b, n + 1, D, dtype=kind),
            "any_beginning": True,
        }

    return there_and_back(
        Case.of("on rows of positions", **draw(b, n)),
        Case.of("on other rows of positions", **draw(n, b)),
        Case.of("with a causal mask", MASKED, **draw(b, n, np.tri(n, dtype=bool))),
        Case.of("on a batch of one, a single position", ONE_POSITION, **draw(1, 1)),
        Case.of("with float32", FLOAT32, **draw(b, n, kind=np.float32)),
        special=(MASKED,),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.blocks",
    points=3,
    cases=cases,
    canonical=without_rounding,
    called=CALLED,
    aspects=of_layer(MASKED, MASKED_BACK, ONE_POSITION, FLOAT32),
)
