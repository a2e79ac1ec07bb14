"""`EncoderBlock`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    LENGTH_ONE,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    untouched,
    values,
)
from grader.authoring.calls import given
from grader.authoring.draw import dims, normal, strided
from grader.authoring.modules import answered_rows, built, followed
from grader.authoring.spec import Case, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.attending import where_answered
from lessons.drawing import Inputs

BROADCAST = special("masks that broadcast", weight=2.0)
EMPTY = special(
    "a row that is all padding", weight=0.5, meaning="A row of nothing but padding gives finite numbers, not NaN."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = drawing.attention(generator, "attention", d_model, dtype)
        weights |= drawing.feed_forward(generator, "feed_forward", d_model, d_ff, dtype)
        weights |= drawing.norm(generator, "norm1", d_model, dtype) | drawing.norm(generator, "norm2", d_model, dtype)
        x = 1 + 2 * normal(generator, b, n, d_model, dtype=dtype)
        return {"num_heads": heads, "d_ff": d_ff, "x": x, "weights": weights}

    allow = partial(drawing.mask, generator)
    pad = partial(drawing.padding, generator)
    b, n, heads = dims(generator, 3, 2, 5)
    n += 1
    width = int(generator.integers(2, 4))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, heads, width, d_ff)
    laid_out = block(*sizes)
    return [
        Case.of("without a mask", **block(*sizes)),
        Case.of("with a mask", **block(*sizes), mask=allow(b, heads, n, n)),
        Case.of("on other sizes", **block(n, b, 2, 3, 5)),
        Case.of("with a padding mask", BROADCAST, **block(*sizes), mask=pad(b, n)),
        Case.of("with one mask for the batch", BROADCAST, **block(*sizes), mask=allow(n, n)),
        Case.of("with one head", LENGTH_ONE, **block(b, n, 1, 4, d_ff)),
        Case.of("on a batch of one", LENGTH_ONE, **block(1, n, heads, width, d_ff)),
        Case.of("with a single token", LENGTH_ONE, **block(b, 1, heads, width, d_ff)),
        Case.of(
            "with a batch entry that is all padding",
            EMPTY,
            **block(*sizes),
            mask=drawing.with_an_empty_row(pad(b, n)),
        ),
        Case.of("with float64", FLOAT64, **block(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, x.shape[-1], inputs["num_heads"], inputs["d_ff"])
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    seen = followed(module, inputs["weights"], given(inputs, "x", "mask"), rows)
    # The contract names the four parts, and leaves open what the feed-forward part is made of.
    names = ("attention", "feed_forward", "norm1", "norm2")
    seen["parts"] = {name: "there" if hasattr(module, name) else "missing" for name in names}
    return seen


TRIAL = Trial(
    module="course.blocks",
    points=3,
    cases=cases,
    probe=probe,
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        BROADCAST,
        LENGTH_ONE,
        EMPTY,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
