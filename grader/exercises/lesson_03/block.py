"""`EncoderBlock`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

import numpy as np
import torch

from course.blocks import EncoderBlock
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, leave_open, modes, parts, tagged
from grader.exercises.spec import Case, Exercise


def _blocks(generator: np.random.Generator) -> list[Case]:
    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = draw.attention(generator, "attention", d_model, kind)
        weights |= draw.feed_forward(generator, "feed_forward", d_model, d_ff, kind)
        weights |= draw.norm(generator, "norm1", d_model, kind) | draw.norm(generator, "norm2", d_model, kind)
        x = 1 + 2 * draw.normal(generator, b, n, d_model, dtype=kind)
        return {"num_heads": heads, "d_ff": d_ff, "x": x, "weights": weights}

    def allow(*sizes: int) -> torch.Tensor:
        return draw.mask(generator, *sizes)

    b, n, heads = draw.dims(generator, 3, 2, 5)
    width = int(generator.integers(2, 4))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, heads, width, d_ff)
    laid_out = block(*sizes)
    return [
        Case("without a mask", block(*sizes), USUAL),
        Case("with a mask", {**block(*sizes), "mask": allow(b, heads, n, n)}, USUAL),
        Case("on other sizes", block(n, b, 2, 3, 5), USUAL),
        Case("with a padding mask", {**block(*sizes), "mask": draw.padding(generator, b, n)}, tagged("broadcast")),
        Case("with one mask for the batch", {**block(*sizes), "mask": allow(n, n)}, tagged("broadcast")),
        Case("with one head", block(b, n, 1, 4, d_ff), tagged("one")),
        Case("on a batch of one", block(1, n, heads, width, d_ff), tagged("one")),
        Case("with a single token", block(b, 1, heads, width, d_ff), tagged("one")),
        Case(
            "with a batch entry that is all padding",
            {**block(*sizes), "mask": draw.with_an_empty_row(draw.padding(generator, b, n))},
            tagged("empty"),
        ),
        Case("with float64", block(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


ENCODER_BLOCK = Exercise(
    symbol="EncoderBlock",
    points=3,
    cases=_blocks,
    references=(EncoderBlock,),
    canonical=leave_open,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("axes of length one", "one"),
        special("a row that is all padding", "empty", 0.5),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        modes(),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
