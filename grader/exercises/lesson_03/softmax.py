"""`masked_softmax`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import masked_softmax
from grader.exercises.aspects import USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.draw import dims, mask, normal, strided, with_an_empty_row
from grader.exercises.lesson_03.drawing import leave_open, tagged
from grader.exercises.spec import Case, Exercise


def _scores(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> torch.Tensor:
        return 2 * normal(generator, *sizes, dtype=kind)

    def allow(*sizes: int) -> torch.Tensor:
        return mask(generator, *sizes)

    b, q, k = dims(generator, 3, 2, 6)
    batch, heads, rows, keys = dims(generator, 4, 2, 6)
    side = int(generator.integers(3, 6))
    far = draw(b, q, k + 2)
    far[0] += 2000.0
    far[1:] -= 2000.0
    empty = with_an_empty_row(allow(b, q, k))
    return [
        Case("with two axes", {"scores": draw(q, k)}, USUAL),
        Case("with three axes", {"scores": draw(b, q, k)}, USUAL),
        Case("with a mask", {"scores": draw(b, q, k), "mask": allow(b, q, k)}, USUAL),
        Case("where all sizes are equal", {"scores": draw(side, side, side), "mask": allow(side, side, side)}, USUAL),
        Case("with one mask for the batch", {"scores": draw(b, q, k), "mask": allow(q, k)}, tagged("broadcast")),
        Case("with one mask for all rows", {"scores": draw(b, q, k), "mask": allow(k)}, tagged("broadcast")),
        Case(
            "with heads and a padding mask",
            {"scores": draw(batch, heads, rows, keys), "mask": allow(batch, 1, 1, keys)},
            tagged("broadcast"),
        ),
        Case("with one key only", {"scores": draw(b, q, 1), "mask": allow(b, q, 1)}, tagged("thin")),
        Case("with a row that allows nothing", {"scores": draw(b, q, k), "mask": empty}, tagged("empty")),
        Case("with very large scores", {"scores": far, "mask": allow(b, q, k + 2)}, tagged("large")),
        Case("with very large scores and no mask", {"scores": far.clone()}, tagged("large")),
        Case(
            "with float64",
            {"scores": draw(b, q, k, kind=torch.float64), "mask": allow(b, q, k)},
            tagged("float64"),
        ),
        Case(
            "with tensors that are not contiguous",
            {"scores": strided(draw(b, q, k)), "mask": strided(allow(b, q, k))},
            tagged("strided"),
        ),
    ]


MASKED_SOFTMAX = Exercise(
    symbol="masked_softmax",
    points=2,
    cases=_scores,
    references=(masked_softmax,),
    canonical=leave_open,
    aspects=(
        shape(),
        values(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("a row with nothing allowed", "empty", 2.0),
        special("large scores", "large"),
        special("a single key", "thin", 0.5),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
