"""`TransformerClassifier`: how it is tried. The contract names no parts, so questions are asked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw
from cellcheck.authoring.spec import tagged
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.examined import SIZES, look_at
from transformer_course.lessons.lesson_03.looks import FEW, LOOKS

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
    "what_came_before",
    "what_is_never_trained",
    "what_training_reaches",
    "the_mode",
    "arguments",
)

OF_A_STACK = tuple(question for question in EVERYTHING if question not in ("what_came_before", "each_row", "the_mode"))
"""Without what takes long to find out and doesn't depend on the number of blocks."""
OF_ONE_BLOCK = tuple(question for question in EVERYTHING if question not in ("what_follows_the_stack", "arguments"))
"""A norm at the end is told from one in every block where there are several blocks."""


def cases(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, length: int, layers: int, ask: tuple[str, ...] = EVERYTHING, **other: Any) -> Inputs:
        """Rows as `prepare_example` makes them: a text, padding, and a last token that is no padding."""
        vocab_size, d_ff = draw.dims(generator, 2, 13, 17)  # more than there are places, even with one too many
        heads = int(generator.integers(2, 4))
        sizes = dict(zip(SIZES, (vocab_size, length + 1, 2 * heads, heads, d_ff, layers, 3), strict=True))
        sizes |= {name: other.pop(name) for name in SIZES if name in other}
        tokens = draw.integers(generator, 1, vocab_size - 1, batch, length)
        tokens[:, :2] = torch.tensor([1, 2])[:length]  # so that turning the order round changes something
        for row in range(1, batch):  # the first row has no padding
            tokens[row, max(2, length - 1 - row) : -1] = 0
        return {"sizes": sizes, "tokens": tokens, "ask": list(ask), "dtype": "float32", **other}

    n = int(generator.integers(6, 9))
    padded = model(3, n, 1, ("shape_and_dtype", "every_logit"))
    padded["tokens"][1] = 0
    return [
        Case("with one block", model(3, n, 1, OF_ONE_BLOCK), aspects.USUAL),
        Case("with three blocks", model(2, n + 1, 3, OF_A_STACK), aspects.USUAL),
        Case("where the row is as long as can be", model(3, n, 1, FEW, max_length=n), tagged("full")),
        Case("where the row is short", model(4, 3, 1, FEW, max_length=n), tagged("full")),
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
    settled = dict(observation)
    if settled.get("what_the_last_layer_reads") in ALLOWED:
        settled["what_the_last_layer_reads"] = ALLOWED[0]
    return settled


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return look_at(symbol, inputs["sizes"], inputs["tokens"], inputs["ask"], inputs["dtype"])


TRIAL = Trial(
    module="transformer_course.classifier", points=4, cases=cases, probe=probe, canonical=either_reading, aspects=LOOKS
)
