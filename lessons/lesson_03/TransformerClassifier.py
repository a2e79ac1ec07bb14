"""`TransformerClassifier`: how it is tried. The contract names no parts, so questions are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring import draw
from grader.authoring.aspects import USUAL
from grader.authoring.spec import Case, Observation, Trial, tagged
from lessons.drawing import Inputs
from lessons.lesson_03.examined import SIZES, look_at
from lessons.lesson_03.looks import FEW, LOOKS

EVERYTHING = (
    "shape_and_dtype",
    "every_logit",
    "what_reaches_the_logits",
    "the_influence_of_padding",
    "what_attention_sees",
    "the_order_of_the_tokens",
    "the_stack",
    "each_block",
    "what_the_last_layer_reads",
    "what_follows_the_stack",
    "what_you_return",
    "each_row",
    "what_is_never_trained",
    "the_mode",
    "arguments",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, length: int, layers: int, ask: tuple[str, ...] = EVERYTHING, **other: Any) -> Inputs:
        """Rows as `prepare_example` makes them: a text, padding, and a last token that is no padding."""
        vocab_size, d_ff = draw.dims(generator, 2, 11, 15)
        heads = int(generator.integers(2, 4))
        sizes = dict(zip(SIZES, (vocab_size, length + 1, 2 * heads, heads, d_ff, layers, 3), strict=True))
        sizes |= {name: other.pop(name) for name in SIZES if name in other}
        tokens = draw.integers(generator, 1, vocab_size - 1, batch, length)
        tokens[:, :2] = torch.tensor([1, 2])[:length]  # so that turning the order round changes something
        for row in range(1, batch):  # the first row has no padding
            tokens[row, max(2, length - 1 - row) : -1] = 0
        return {"sizes": sizes, "tokens": tokens, "ask": list(ask), "dtype": "float32", **other}

    n = int(generator.integers(6, 9))
    padded = model(3, n, 2, ("shape_and_dtype", "every_logit"))
    padded["tokens"][1] = 0
    return [
        Case("with one block", model(3, n, 1), USUAL),
        Case("with three blocks", model(2, n + 1, 3), USUAL),
        Case("where the row is as long as can be", model(3, n, 1, FEW, max_length=n), tagged("full")),
        Case("where the row is short", model(4, 3, 2, FEW, max_length=n), tagged("full")),
        Case("with as many rows as tokens", model(6, 6, 1, FEW), tagged("sizes")),
        Case("with five classes and one head", model(3, n, 1, FEW, num_classes=5, num_heads=1), tagged("sizes")),
        Case("on a batch of one", model(1, n, 1, FEW), tagged("one")),
        Case("with a single token", model(2, 1, 1, FEW), tagged("one")),
        Case("with a row that is all padding", padded, tagged("empty")),
        Case("with float64", model(3, n, 1, FEW, dtype="float64"), tagged("float64")),
    ]


ALLOWED = ("the last position", "the mean of the real tokens")


def either_reading(observation: Observation, case: Case) -> Observation:
    """The last position or the masked mean: the contract leaves the choice."""
    kept = dict(observation)
    if kept.get("what_the_last_layer_reads") in ALLOWED:
        kept["what_the_last_layer_reads"] = ALLOWED[0]
    return kept


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return look_at(symbol, inputs["sizes"], inputs["tokens"], inputs["ask"], inputs["dtype"])


TRIAL = Trial(
    module="course.classifier",
    points=4,
    cases=cases,
    probe=probe,
    canonical=either_reading,
    aspects=LOOKS,
)
