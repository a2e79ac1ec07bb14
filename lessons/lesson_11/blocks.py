"""How both blocks of this lesson are tried: the same steps around different parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    also,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    special,
    untouched,
    values,
)
from grader.authoring.calls import given
from grader.authoring.draw import normal, strided
from grader.authoring.modules import followed
from grader.authoring.spec import Case
from lessons.drawing import Inputs
from lessons.lesson_11.fresh_modules import fresh, learned_numbers

ONE = special("axes of length one")
ASPECTS = (
    parts(2.0),
    also("nothing else to learn", "size", meaning="The four parts are all that learns, each of the right size."),
    shape(),
    values(9.0),
    gradients(),
    ONE,
    *any_numbers(0.5),
    modes(),
    untouched(),
)

Weights = Callable[[int, int, torch.dtype], dict[str, torch.Tensor]]
"""Draws a block's weights, given d_model, d_ff and the dtype."""


def cases_of(generator: np.random.Generator, weights: Weights, shares_keys: bool) -> list[Case]:
    """The cases of a block. One that `shares_keys` has half as many key heads as heads."""

    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        sizes = {"num_heads": heads, **({"num_kv_heads": heads // 2} if shares_keys else {}), "d_ff": d_ff}
        drawn = weights(d_model, d_ff, dtype)
        return {**sizes, "x": 1 + 2 * normal(generator, b, n, d_model, dtype=dtype), "weights": drawn}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, 4, 2, d_ff)
    laid_out = block(*sizes)
    return [
        Case.of("on a batch of rows", **block(*sizes)),
        Case.of("on other sizes", **block(n, b, 2, 4, 5)),
        Case.of("on a batch of one, with a single token", ONE, **block(1, 1, 4, 2, d_ff)),
        Case.of("with float64", FLOAT64, **block(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe_block(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of a block with the case's sizes and weights."""
    x = inputs["x"]
    module = fresh(symbol, x.shape[-1], *given(inputs, "num_heads", "num_kv_heads", "d_ff"))
    return {"size": learned_numbers(module), **followed(module, inputs["weights"], [x])}
