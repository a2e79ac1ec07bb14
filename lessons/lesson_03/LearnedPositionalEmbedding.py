"""`LearnedPositionalEmbedding`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import FLOAT64, LAYOUT, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.modules import built, followed
from grader.authoring.spec import Case, Trial
from lessons.aspects import special
from lessons.drawing import Inputs

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
    room = n + int(generator.integers(8, 11))
    side = int(generator.integers(3, 6))
    laid_out = table(b, n, d, room)
    return [
        Case.of("with four different sizes", **table(b, n, d, room)),
        Case.of("with more rows in the batch than tokens in a row", **table(n + 3, n, d, room)),
        Case.of("with fewer rows in the batch than tokens in a row", **table(n, n + 3, d, room)),
        Case.of("where the row fills the table", FULL, **table(b, n, d, n)),
        Case.of("where batch, length and d_model are equal", EQUAL, **table(side, side, side, side + 2)),
        Case.of("on a batch of one", ONE, **table(1, n, d, room)),
        Case.of("with a single token", ONE, **table(b, 1, d, room)),
        Case.of("with float64", FLOAT64, **table(b, n, d, room, torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    return followed(built(symbol, inputs["max_length"], x.shape[-1]), inputs["weights"], [x])


TRIAL = Trial(
    module="course.blocks",
    points=2,
    cases=cases,
    probe=probe,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        FULL,
        EQUAL,
        ONE,
        *any_numbers(0.5),
        modes(),
        untouched("x untouched", 2.0),
    ),
)
