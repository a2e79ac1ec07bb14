"""`SelfAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import SelfAttention
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, shape, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, attention_weights, both, leave_open, modes, parts, tagged
from grader.exercises.spec import Case, Exercise


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(batch: int, length: int, d_model: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": draw.attention(generator, "", d_model, kind, ("query", "key", "value")),
        }

    def allow(*sizes: int) -> torch.Tensor:
        return draw.mask(generator, *sizes)

    b, n, d = draw.dims(generator, 3, 2, 6)
    side = int(generator.integers(3, 6))
    laid_out = layer(b, n, d)
    return [
        Case("with three different sizes", layer(b, n, d), USUAL),
        Case("with a mask", {**layer(b, n, d), "mask": allow(b, n, n)}, USUAL),
        Case("where all sizes are equal", {**layer(side, side, side), "mask": allow(side, side, side)}, USUAL),
        Case("with one mask for the batch", {**layer(b, n, d), "mask": allow(n, n)}, tagged("broadcast")),
        Case("with a row of keys hidden", {**layer(b, n, d), "mask": allow(b, 1, n)}, tagged("broadcast")),
        Case("on a batch of one", layer(1, n, d), tagged("one")),
        Case("with a single token", layer(b, 1, d), tagged("one")),
        Case(
            "with a row that allows nothing",
            {**layer(b, n, d), "mask": draw.with_an_empty_row(allow(b, n, n))},
            tagged("empty"),
        ),
        Case("with float64", {**layer(b, n, d, torch.float64), "mask": allow(b, n, n)}, tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


SELF_ATTENTION = Exercise(
    symbol="SelfAttention",
    points=2,
    cases=_layers,
    references=(SelfAttention,),
    canonical=leave_open,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        both("masks that broadcast", "broadcast"),
        both("a batch of one, a single token", "one"),
        both("a row with nothing allowed", "empty", 0.5),
        dtype(),
        both("float64", "float64"),
        both("any layout in memory", "strided", 0.5),
        modes(),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
