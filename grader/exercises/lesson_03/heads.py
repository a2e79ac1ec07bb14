"""`split_heads` and `merge_heads`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import merge_heads, split_heads
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, refused, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, tagged
from grader.exercises.spec import Case, Exercise


def _wholes(generator: np.random.Generator) -> list[Case]:
    def whole(b: int, n: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {"x": draw.normal(generator, b, n, heads * d_head, dtype=kind), "num_heads": heads}

    b, n, heads, d_head = draw.dims(generator, 4, 2, 6)
    side = int(generator.integers(2, 4))
    laid_out = whole(b, n, heads, d_head)
    return [
        Case("with four different sizes", whole(b, n, heads, d_head), USUAL),
        Case("with four other sizes", whole(d_head, heads, n, b), USUAL),
        Case("where all sizes are equal", whole(side, side, side, side), USUAL),
        Case("with one head", whole(b, n, 1, d_head), tagged("one")),
        Case("with heads of width one", whole(b, n, heads, 1), tagged("one")),
        Case("on a batch of one", whole(1, n, heads, d_head), tagged("one")),
        Case("with a single token", whole(b, 1, heads, d_head), tagged("one")),
        Case("with whole numbers", {"x": draw.integers(generator, 0, 99, b, n, 6), "num_heads": 2}, tagged("whole")),
        Case("with float64", whole(b, n, heads, d_head, torch.float64), tagged("float64")),
        Case("with a tensor that is not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
        # Each of these sizes lets one careless line through without an error.
        Case("where 2 heads don't divide 7 columns", {**whole(6, 6, 1, 7), "num_heads": 2}, tagged("refused")),
        Case("where 4 heads don't divide 6 columns", {**whole(2, 2, 1, 6), "num_heads": 4}, tagged("refused")),
    ]


def _parts(generator: np.random.Generator) -> list[Case]:
    def heads(b: int, h: int, n: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {"x": draw.normal(generator, b, h, n, d_head, dtype=kind)}

    b, h, n, d_head = draw.dims(generator, 4, 2, 6)
    side = int(generator.integers(2, 4))
    crossed = draw.normal(generator, b, n, h, d_head).transpose(1, 2)  # as split_heads may leave it
    return [
        Case("with four different sizes", heads(b, h, n, d_head), USUAL),
        Case("with four other sizes", heads(n, d_head, b, h), USUAL),
        Case("where all sizes are equal", heads(side, side, side, side), USUAL),
        Case("with one head", heads(b, 1, n, d_head), tagged("one")),
        Case("with heads of width one", heads(b, h, n, 1), tagged("one")),
        Case("on a batch of one", heads(1, h, n, d_head), tagged("one")),
        Case("with a single token", heads(b, h, 1, d_head), tagged("one")),
        Case("with whole numbers", {"x": draw.integers(generator, 0, 99, b, h, n, d_head)}, tagged("whole")),
        Case("with float64", heads(b, h, n, d_head, torch.float64), tagged("float64")),
        Case(
            "with a tensor that is not contiguous", {"x": draw.strided(heads(b, h, n, d_head)["x"])}, tagged("strided")
        ),
        Case("with a tensor whose axes were swapped before", {"x": crossed}, tagged("strided")),
    ]


_ASPECTS = (
    shape(),
    values(),
    gradients(1.0),
    special("axes of length one", "one"),
    special("whole numbers", "whole", 0.5),
    dtype(),
    special("float64", "float64", 0.5),
    special("any layout in memory", "strided"),
    untouched(weight=0.5),
)

SPLIT_HEADS = Exercise(
    symbol="split_heads",
    points=2,
    cases=_wholes,
    references=(split_heads,),
    aspects=(*_ASPECTS, refused("heads that don't fit are refused", "refused", 2.0)),
    mistakes=(),
    variants={},
)

MERGE_HEADS = Exercise(
    symbol="merge_heads",
    points=1,
    cases=_parts,
    references=(merge_heads,),
    aspects=_ASPECTS,
    mistakes=(),
    variants={},
)
