"""`padding_mask`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import padding_mask
from grader.exercises import draw
from grader.exercises.aspects import USUAL, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, tagged
from grader.exercises.spec import Aspect, Case, Exercise


def _tokens(generator: np.random.Generator) -> list[Case]:
    def rows(batch: int, length: int, pad_id: int = 0) -> torch.Tensor:
        """Ids from 0 to 19 with padding on the right, another amount in each row."""
        ids = draw.integers(generator, 0, 20, batch, length)
        ids[ids == pad_id] = 20
        real = draw.padding(generator, batch, length)[:, 0, 0]
        return torch.where(real, ids, pad_id)

    b, n = draw.dims(generator, 2, 3, 7)
    side = int(generator.integers(3, 6))
    pad_id = int(generator.integers(3, 9))
    scattered = draw.integers(generator, 1, 20, b, n)
    scattered[draw.mask(generator, b, n)] = 0
    whole = draw.integers(generator, 1, 20, b, n)
    whole[0] = 0

    def other(batch: int, length: int) -> Inputs:
        return {"tokens": rows(batch, length, pad_id), "pad_id": pad_id}

    return [
        Case("with padding on the right", {"tokens": rows(b, n)}, USUAL),
        Case("with more rows than tokens", {"tokens": rows(n + 2, n)}, USUAL),
        Case("with as many rows as tokens", {"tokens": rows(side, side)}, USUAL),
        Case("with padding anywhere in a row", {"tokens": scattered}, tagged("anywhere")),
        Case("with another pad_id", other(b, n), tagged("pad_id")),
        Case("with another pad_id, on other sizes", other(n, b), tagged("pad_id")),
        Case("on a batch of one", {"tokens": rows(1, n)}, tagged("one")),
        Case("with a single token", {"tokens": draw.integers(generator, 0, 2, b, 1)}, tagged("one")),
        Case("with a row of padding alone, and rows without", {"tokens": whole}, tagged("all")),
        Case("with tokens that are not contiguous", {"tokens": draw.strided(rows(b, n))}, tagged("strided")),
    ]


PADDING_MASK = Exercise(
    symbol="padding_mask",
    points=1,
    cases=_tokens,
    references=(padding_mask,),
    aspects=(
        Aspect("shape (batch, 1, 1, length)", kinds=frozenset({"error", "type", "shape"}), tags=USUAL),
        values(),
        Aspect("boolean", kinds=frozenset({"dtype"})),
        special("padding anywhere in a row", "anywhere"),
        special("another pad_id", "pad_id"),
        special("a batch of one, a single token", "one"),
        special("all padding, or none", "all"),
        special("any layout in memory", "strided", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(),
    variants={},
)
