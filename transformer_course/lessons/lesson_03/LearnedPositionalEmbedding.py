"""`LearnedPositionalEmbedding`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import built, followed
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls

FULL = special("a full table", meaning="A row as long as the table gets the right positions too.")
EQUAL = special(
    "batch, length and d_model of one size",
    weight=0.5,
    meaning="The positions run along the right axis even when batch, length and d_model are equal.",
)
ONE = special("a batch of one, a single token")


def cases(generator: np.random.Generator) -> list[Case]:
    def table(batch: int, length: int, d_model: int, max_length: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "max_length": max_length,
            "x": normal(generator, batch, length, d_model, dtype=dtype),
            "weights": {"embedding.weight": normal(generator, max_length, d_model, dtype=dtype)},
        }

    b, n, d = dims(generator, 3, 2, 7)
    b, n = sorted((b, n))  # fewer rows than tokens, so that no count of rows looks like a position
    room = n + int(generator.integers(8, 11))
    side = int(generator.integers(3, 6))
    laid_out = with_gaps(table(b, n, d, room))
    return [
        Case.of("with four different sizes", **table(b, n, d, room)),
        Case.of("with more rows in the batch than tokens in a row", **table(n + 3, n, d, room)),
        Case.of("with fewer rows in the batch than tokens in a row", **table(n, n + 3, d, room)),
        Case.of("where the row fills the table", FULL, **table(b, n, d, n)),
        Case.of("where batch, length and d_model are equal", EQUAL, **table(side, side, side, side + 2)),
        Case.of("on a batch of one", ONE, **table(1, n, d, room)),
        Case.of("with a single token", ONE, **table(b, 1, d, room)),
        Case.of("after a call on a single token", AGAIN, **table(b, n, d, room), before=[(table(b, 1, d, room)["x"],)]),
        Case.of(
            "after a call on longer rows", AGAIN, **table(b, n, d, room), before=[(table(1, n + 1, d, room)["x"],)]
        ),
        Case.of("with float64", aspects.FLOAT64, **table(b, n, d, room, torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = after_other_calls(built(symbol, inputs["max_length"], x.shape[-1]), inputs)
    return followed(module, inputs["weights"], [x])


TRIAL = Trial(
    module="transformer_course.blocks",
    points=2,
    cases=cases,
    probe=probe,
    aspects=(
        aspects.parts(),
        aspects.shape(),
        aspects.values(),
        aspects.gradients(11.0),  # positions that are learnt
        FULL,
        EQUAL,
        ONE,
        AGAIN,
        *aspects.any_numbers(0.5),
        aspects.modes(),
        aspects.untouched("x untouched", 2.0),
    ),
)
