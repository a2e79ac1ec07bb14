"""`Transformer`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.drawing import (
    CALLED,
    FLOAT32,
    Inputs,
    attention,
    back,
    feed_forward,
    linear,
    norm,
    normal,
    of_layer,
    of_some_cases,
    there_and_back,
    without_rounding,
)

VOCAB, LONGEST, D, HEADS, WIDE = 7, 6, 4, 2, 5
PADDED = of_some_cases("padding", 2.0, "The padding of the source is hidden from every attention that reads it.")
PADDED_BACK = back(PADDED, meaning="With padding, too, backward gives the right gradients.")
ONE_TOKEN = of_some_cases(
    "a batch of one, a single token", meaning="A batch of one and rows of a single token are right too."
)


def weights(generator: np.random.Generator, layers: int, kind: Any = np.float64) -> Inputs:
    drawn: Inputs = {}
    for side in ("source", "target"):
        drawn[f"{side}_embedding.weight"] = normal(generator, VOCAB, D, dtype=kind)
        drawn[f"{side}_positions.weight"] = normal(generator, LONGEST, D, dtype=kind)
    for place in range(layers):
        for block, attentions in (("encoder", ("attention",)), ("decoder", ("self_attention", "cross_attention"))):
            name = f"{block}_blocks.{place}"
            for number, attended in enumerate(attentions, start=1):
                drawn |= norm(generator, f"{name}.norm{number}", D, kind)
                drawn |= attention(generator, f"{name}.{attended}", D, kind)
            drawn |= norm(generator, f"{name}.norm{len(attentions) + 1}", D, kind)
            drawn |= feed_forward(generator, f"{name}.feed_forward", D, WIDE, kind)
    for name in ("encoder_norm", "decoder_norm"):
        drawn |= norm(generator, name, D, kind)
    return drawn | linear(generator, "output", D, VOCAB, kind)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, m: int, n: int, layers: int, padded: bool = False, kind: Any = np.float64) -> Inputs:
        def two(row: int, longer: int = 0) -> list[np.ndarray]:
            """The second time, another row has the padding, and the target is longer."""
            sizes = ((batch, n), (batch, m + longer))
            source, target = (generator.integers(1, VOCAB, size).astype(np.intp) for size in sizes)
            source[0, 0] = source[-1, -1]
            if padded:
                source[row, -2:] = 0
                target[row, -1] = 0
            return [source, target]

        return {
            "sizes": [VOCAB, LONGEST, D, HEADS, WIDE, layers],
            "weights": weights(generator, layers, kind),
            "arguments": two(0),
            "gradient": normal(generator, batch, m, VOCAB, dtype=kind),
            "other_arguments": two(-1, 1),
            "other_gradient": normal(generator, batch, m + 1, VOCAB, dtype=kind),
            "any_beginning": True,
        }

    return there_and_back(
        Case.of("with two blocks on each side", **draw(3, 4, 5, 2)),
        Case.of("with one block on each side", **draw(2, 5, 3, 1)),
        Case.of("with padding", PADDED, **draw(3, 4, 5, 2, padded=True)),
        Case.of("on a batch of one, a single token", ONE_TOKEN, **draw(1, 1, 1, 1)),
        Case.of("with float32", FLOAT32, **draw(2, 3, 4, 1, kind=np.float32)),
        special=(PADDED,),
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.model",
    points=4,
    cases=cases,
    canonical=without_rounding,
    called=CALLED,
    aspects=of_layer(PADDED, PADDED_BACK, ONE_TOKEN, FLOAT32, returns=False),
)
