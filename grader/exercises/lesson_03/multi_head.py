"""`MultiHeadAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import MultiHeadAttention
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, attention_weights, leave_open, modes, parts, tagged
from grader.exercises.spec import Case, Exercise


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, q: int, k: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "queries": draw.normal(generator, b, q, d_model, dtype=kind),
            "keys": draw.normal(generator, b, k, d_model, dtype=kind),
            "values": draw.normal(generator, b, k, d_model, dtype=kind),
            "weights": draw.attention(generator, "", d_model, kind),
        }

    def allow(*sizes: int) -> torch.Tensor:
        return draw.mask(generator, *sizes)

    b, q, k, heads = draw.dims(generator, 4, 2, 6)
    width = int(generator.integers(2, 4))
    sizes = (b, q, k, heads, width)
    side = int(generator.integers(2, 4))
    alone = layer(b, q, q, heads, width)
    alone = {"num_heads": heads, "x": alone["queries"], "weights": alone["weights"]}
    laid_out = layer(*sizes)
    laid_out |= {name: draw.strided(laid_out[name]) for name in ("queries", "keys", "values")}
    return [
        Case("with five different sizes", layer(*sizes), USUAL),
        Case("with a mask a head", {**layer(*sizes), "mask": allow(b, heads, q, k)}, USUAL),
        Case("where a row looks at itself", alone, USUAL),
        Case("where all sizes are equal", layer(side, side, side, side, side), USUAL),
        Case("with a padding mask", {**layer(*sizes), "mask": draw.padding(generator, b, k)}, tagged("broadcast")),
        Case("with heads that share a mask", {**layer(*sizes), "mask": allow(b, 1, q, k)}, tagged("broadcast")),
        Case("with one mask for the batch", {**layer(*sizes), "mask": allow(q, k)}, tagged("broadcast")),
        Case("with one head", {**layer(b, q, k, 1, 5), "mask": allow(b, 1, q, k)}, tagged("one head")),
        Case("with heads of width one", layer(b, q, k, heads, 1), tagged("one")),
        Case("on a batch of one, with one query", layer(1, 1, k, heads, width), tagged("one")),
        Case(
            "with rows that allow nothing",
            {**layer(*sizes), "mask": draw.with_an_empty_row(allow(b, heads, q, k))},
            tagged("empty"),
        ),
        Case(
            "with a batch entry that is all padding",
            {**layer(*sizes), "mask": draw.with_an_empty_row(draw.padding(generator, b, k))},
            tagged("empty"),
        ),
        Case("with float64", layer(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", laid_out, tagged("strided")),
    ]


MULTI_HEAD_ATTENTION = Exercise(
    symbol="MultiHeadAttention",
    points=4,
    cases=_layers,
    references=(MultiHeadAttention,),
    canonical=leave_open,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("one head", "one head"),
        special("axes of length one", "one"),
        special("rows with nothing allowed", "empty"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        modes(),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
