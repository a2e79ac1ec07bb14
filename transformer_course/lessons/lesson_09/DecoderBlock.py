"""`DecoderBlock`: how it is tried."""

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
MASKED = of_some_cases("masks", 1.5, "Each mask reaches the attention that it belongs to.")
MASKED_BACK = back(MASKED, meaning="With masks, too, backward gives the right gradients.")


def cases(generator: np.random.Generator) -> list[Case]:
    b, m, n = (int(size) for size in generator.choice([2, 3, 4, 5], 3, replace=False))

    def draw(b: int, m: int, n: int, masks: tuple[np.ndarray | None, ...] = (), kind: Any = np.float64) -> Inputs:
        def two(longer: int = 0) -> list[Any]:
            """The second time, with longer rows and without masks."""
            x, states = (normal(generator, b, length + longer, D, dtype=kind) for length in (m, n))
            return [x, states * kind(2), *(() if longer else masks)]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": block(generator, ("self_attention", "cross_attention"), D, WIDE, kind),
            "arguments": two(),
            "gradient": normal(generator, b, m, D, dtype=kind),
            "other_arguments": two(1),
            "other_gradient": normal(generator, b, m + 1, D, dtype=kind),
            "any_beginning": True,
        }

    causal, padding = np.tri(m, dtype=bool), np.ones((b, 1, 1, n), dtype=bool)
    padding[0, ..., -1] = False
    return there_and_back(
        Case.of("on a target and a source", **draw(b, m, n)),
        Case.of("on a longer target than source, or shorter", **draw(b, n, m)),
        Case.of("with both masks", MASKED, **draw(b, m, n, (causal, padding))),
        Case.of("with the self-attention's mask alone", MASKED, **draw(b, m, m, (causal,))),
        Case.of("with the encoder's mask alone", MASKED, **draw(b, n, n, (None, padding))),
        Case.of("on a batch of one, a single position", ONE_POSITION, **draw(1, 1, 1)),
        Case.of("with float32", FLOAT32, **draw(b, m, n, kind=np.float32)),
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
