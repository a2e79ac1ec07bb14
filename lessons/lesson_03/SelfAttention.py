"""`SelfAttention`: how it is tried. The probe hands the weights in by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import FLOAT64, LAYOUT, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.calls import given
from grader.authoring.draw import dims, normal, strided
from grader.authoring.modules import answered_rows, built, followed
from grader.authoring.spec import Case, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs

BROADCAST = special("masks that broadcast")
ONE = special("a batch of one, a single token")
EMPTY = special("a row with nothing allowed", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(batch: int, length: int, d_model: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "x": normal(generator, batch, length, d_model, dtype=dtype),
            "weights": drawing.attention(generator, "", d_model, dtype, ("query", "key", "value")),
        }

    allow = partial(drawing.mask, generator)
    b, n, d = dims(generator, 3, 3, 6)
    side = int(generator.integers(3, 6))
    laid_out = layer(b, n, d)
    return [
        Case.of("with three different sizes", **layer(b, n, d)),
        Case.of("with a mask", **layer(b, n, d), mask=allow(b, n, n)),
        Case.of("where all sizes are equal", **layer(side, side, side), mask=allow(side, side, side)),
        Case.of("with one mask for the batch", BROADCAST, **layer(b, n, d), mask=allow(n, n)),
        Case.of("with a row of keys hidden", BROADCAST, **layer(b, n, d), mask=allow(b, 1, n)),
        Case.of("on a batch of one", ONE, **layer(1, n, d)),
        Case.of("with a single token", ONE, **layer(b, 1, d)),
        Case.of(
            "with a row that allows nothing", EMPTY, **layer(b, n, d), mask=drawing.with_an_empty_row(allow(b, n, n))
        ),
        Case.of("with float64", FLOAT64, **layer(b, n, d, torch.float64), mask=allow(b, n, n)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    return followed(built(symbol, x.shape[-1]), inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)


TRIAL = Trial(
    module="course.attention",
    points=2,
    cases=cases,
    probe=probe,
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        BROADCAST,
        ONE,
        EMPTY,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
