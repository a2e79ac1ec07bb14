"""`FeedForward`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.blocks import FeedForward
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, modes, parts, tagged
from grader.exercises.spec import Case, Exercise


def _networks(generator: np.random.Generator) -> list[Case]:
    def network(batch: int, length: int, d_model: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "d_ff": d_ff,
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": draw.feed_forward(generator, "", d_model, d_ff, kind),
        }

    b, n, d, d_ff = draw.dims(generator, 4, 2, 9)
    narrow, wide = sorted(draw.dims(generator, 2, 3, 9))
    side = int(generator.integers(3, 6))
    laid_out = network(b, n, d, d_ff)
    return [
        Case("with four different sizes", network(b, n, d, d_ff), USUAL),
        Case("with d_ff above d_model", network(n, b, narrow, 2 * wide), USUAL),
        Case("with d_ff below d_model", network(b, n, wide, narrow), USUAL),
        Case("where all sizes are equal", network(side, side, side, side), USUAL),
        Case("on a batch of one", network(1, n, d, d_ff), tagged("one")),
        Case("with a single token", network(b, 1, d, d_ff), tagged("one")),
        Case("with float64", network(b, n, d, d_ff, torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


FEED_FORWARD = Exercise(
    symbol="FeedForward",
    points=1,
    cases=_networks,
    references=(FeedForward,),
    aspects=(
        parts(2.0),
        shape(),
        values(),
        gradients(),
        special("a batch of one, a single token", "one"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        modes(),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
