"""`MultiHeadAttention`: how it is tried."""

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
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs

BROADCAST = special("masks that broadcast", weight=2.0)
ONE_HEAD = special("one head", meaning="A layer with a single head gives the right result too.")
EMPTY = special("rows with nothing allowed")


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, q: int, k: int, heads: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "queries": normal(generator, b, q, d_model, dtype=dtype),
            "keys": normal(generator, b, k, d_model, dtype=dtype),
            "values": normal(generator, b, k, d_model, dtype=dtype),
            "weights": drawing.attention(generator, "", d_model, dtype),
        }

    allow = partial(drawing.mask, generator)
    pad = partial(drawing.padding, generator)
    heads = int(generator.integers(2, 4))
    b, (q, k) = 5 - heads, dims(generator, 2, 4, 7)
    width = int(generator.integers(2, 4))
    sizes = (b, q, k, heads, width)
    side = int(generator.integers(2, 4))
    alone = layer(b, q, q, heads, width)
    alone = {"num_heads": heads, "x": alone["queries"], "weights": alone["weights"]}
    laid_out = layer(*sizes)
    laid_out |= {name: strided(laid_out[name]) for name in ("queries", "keys", "values")}
    return [
        Case.of("with five different sizes", **layer(*sizes)),
        Case.of("with a mask a head", **layer(*sizes), mask=allow(b, heads, q, k)),
        Case.of("where a row looks at itself", **alone),
        Case.of("where all sizes are equal", **layer(side, side, side, side, side)),
        Case.of("with a padding mask", BROADCAST, **layer(*sizes), mask=pad(b, k)),
        Case.of("with heads that share a mask", BROADCAST, **layer(*sizes), mask=allow(b, 1, q, k)),
        Case.of("with one mask for the batch", BROADCAST, **layer(*sizes), mask=allow(q, k)),
        Case.of("with one head", ONE_HEAD, **layer(b, q, k, 1, 5), mask=allow(b, 1, q, k)),
        Case.of("with heads of width one", LENGTH_ONE, **layer(b, q, k, heads, 1)),
        Case.of("on a batch of one, with one query", LENGTH_ONE, **layer(1, 1, k, heads, width)),
        Case.of(
            "with rows that allow nothing",
            EMPTY,
            **layer(*sizes),
            mask=drawing.with_an_empty_row(allow(b, heads, q, k)),
        ),
        Case.of(
            "with a batch entry that is all padding",
            EMPTY,
            **layer(*sizes),
            mask=drawing.with_an_empty_row(pad(b, k)),
        ),
        Case.of("with float64", FLOAT64, **layer(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    arguments = [inputs["x"]] * 3 if "x" in inputs else given(inputs, "queries", "keys", "values")
    queries = arguments[0]
    module = built(symbol, queries.shape[-1], inputs["num_heads"])
    rows = answered_rows(inputs.get("mask"), queries.shape[:-1])
    return followed(module, inputs["weights"], [*arguments, *given(inputs, "mask")], rows, pair=True)


TRIAL = Trial(
    module="course.attention",
    points=4,
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
        ONE_HEAD,
        LENGTH_ONE,
        EMPTY,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
