"""`FeedForward`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import FLOAT64, LAYOUT, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.modules import built, followed
from grader.authoring.spec import Case, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.drawing import Inputs

ONE = special("a batch of one, a single token")


def cases(generator: np.random.Generator) -> list[Case]:
    def network(batch: int, length: int, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "d_ff": d_ff,
            "x": normal(generator, batch, length, d_model, dtype=dtype),
            "weights": drawing.feed_forward(generator, "", d_model, d_ff, dtype),
        }

    b, n, d, d_ff = dims(generator, 4, 4, 9)
    narrow, wide = sorted(dims(generator, 2, 5, 9))
    side = int(generator.integers(5, 7))
    laid_out = network(b, n, d, d_ff)
    return [
        Case.of("with four different sizes", **network(b, n, d, d_ff)),
        Case.of("with d_ff above d_model", **network(n, b, narrow, 2 * wide + 1)),
        Case.of("with d_ff below d_model", **network(b, n, wide, narrow)),
        Case.of("where all sizes are equal", **network(side, side, side, side)),
        Case.of("on a batch of one", ONE, **network(1, n, d, d_ff)),
        Case.of("with a single token", ONE, **network(b, 1, d, d_ff)),
        Case.of("with float64", FLOAT64, **network(b, n, d, d_ff, torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    return followed(built(symbol, x.shape[-1], inputs["d_ff"]), inputs["weights"], [x])


TRIAL = Trial(
    module="course.blocks",
    points=1,
    cases=cases,
    probe=probe,
    aspects=(
        parts(2.0),
        shape(),
        values(),
        gradients(),
        ONE,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
