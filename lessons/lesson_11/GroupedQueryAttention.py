"""`GroupedQueryAttention`: how it is tried. The probe hands the weights in by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from course.causal import causal_mask
from grader.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    also,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    untouched,
    values,
)
from grader.authoring.calls import given
from grader.authoring.draw import normal, strided
from grader.authoring.modules import answered_rows, followed
from grader.authoring.spec import Case, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import grouped_weights
from lessons.lesson_11.fresh_modules import fresh, learned_numbers

MASKS = special("masks", weight=7.0, meaning="A mask of any shape that broadcasts decides who sees whom.")
SHARED = special("one key head for all", meaning="With num_kv_heads = 1, all query heads share it.")
OWN = special("a key head for each", meaning="With num_kv_heads = num_heads, nothing is shared.")
ONE = special("axes of length one", weight=0.5)
EMPTY = special("a row with nothing allowed", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    def row(b: int, n: int, heads: int, kv: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "num_kv_heads": kv,
            "x": normal(generator, b, n, d_model, dtype=dtype),
            "weights": grouped_weights(generator, "", d_model, kv * d_head, dtype),
        }

    b, n = (int(k) for k in generator.choice([(2, 5), (3, 5), (3, 7), (2, 7)]))
    wide = 4
    sizes = (b, n, 4, 2, wide)
    laid_out = row(*sizes)
    return [
        Case.of("with two key heads for four query heads", **row(*sizes)),
        Case.of("with three key heads for six query heads", **row(2, n, 6, 3, wide)),
        Case.of("with two key heads for six query heads", **row(b, n, 6, 2, 2)),
        Case.of("with a mask", MASKS, **row(*sizes), mask=drawing.mask(generator, b, 4, n, n)),
        Case.of("with the causal mask", MASKS, **row(*sizes), mask=causal_mask(n)),
        Case.of("with one key head for all", SHARED, **row(b, n, 4, 1, wide)),
        Case.of("with a key head for each query head", OWN, **row(b, n, 3, 3, wide)),
        Case.of("on a batch of one, with a single token", ONE, **row(1, 1, 4, 2, wide)),
        Case.of(
            "with a row in which nothing is allowed",
            EMPTY,
            **row(*sizes),
            mask=drawing.with_an_empty_row(drawing.mask(generator, b, 4, n, n)),
        ),
        Case.of("with float64", FLOAT64, **row(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = fresh(symbol, x.shape[-1], inputs["num_heads"], inputs["num_kv_heads"])
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    seen = followed(module, inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)
    return {"size": learned_numbers(module), **seen}


TRIAL = Trial(
    module="course.language_model.modern",
    points=4,
    cases=cases,
    probe=probe,
    canonical=where_answered,
    aspects=(
        parts(2.0),
        also(
            "fewer keys and values", "size", meaning="Key and value learn d_model * num_kv_heads * d_head numbers each."
        ),
        shape(),
        values(8.0),
        attention_weights(),
        gradients(),
        MASKS,
        SHARED,
        OWN,
        ONE,
        EMPTY,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
