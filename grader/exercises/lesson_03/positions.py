"""`LearnedPositionalEmbedding`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.blocks import LearnedPositionalEmbedding
from grader.exercises import draw
from grader.exercises.aspects import USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, modes, parts, tagged
from grader.exercises.spec import Case, Exercise


def _tables(generator: np.random.Generator) -> list[Case]:
    def table(batch: int, length: int, d_model: int, max_length: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "max_length": max_length,
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": {"embedding.weight": draw.normal(generator, max_length, d_model, dtype=kind)},
        }

    b, n, d = draw.dims(generator, 3, 2, 7)
    room = n + int(generator.integers(8, 11))
    side = int(generator.integers(3, 6))
    laid_out = table(b, n, d, room)
    return [
        Case("with four different sizes", table(b, n, d, room), USUAL),
        Case("with more rows in the batch than tokens in a row", table(n + 3, n, d, room), USUAL),
        Case("with fewer rows in the batch than tokens in a row", table(n, n + 3, d, room), USUAL),
        Case("where the row fills the table", table(b, n, d, n), tagged("full")),
        Case("where batch, length and d_model are equal", table(side, side, side, side + 2), tagged("equal")),
        Case("on a batch of one", table(1, n, d, room), tagged("one")),
        Case("with a single token", table(b, 1, d, room), tagged("one")),
        Case("with float64", table(b, n, d, room, torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


LEARNED_POSITIONAL_EMBEDDING = Exercise(
    symbol="LearnedPositionalEmbedding",
    points=2,
    cases=_tables,
    references=(LearnedPositionalEmbedding,),
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("a full table", "full"),
        special("batch, length and d_model of one size", "equal", 0.5),
        special("a batch of one, a single token", "one"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        modes(),
        untouched("x untouched", 2.0),
    ),
    mistakes=(),
    variants={},
)
