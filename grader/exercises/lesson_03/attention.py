"""`scaled_dot_product_attention`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.attention import scaled_dot_product_attention
from grader.exercises.aspects import USUAL, dtype, gradients, shape, untouched, values
from grader.exercises.draw import dims, mask, normal, padding, strided, with_an_empty_row
from grader.exercises.lesson_03.drawing import Inputs, attention_weights, both, leave_open, tagged
from grader.exercises.spec import Case, Exercise


def _triples(generator: np.random.Generator) -> list[Case]:
    def draw(*leading: int, q: int, k: int, d: int, v: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "query": normal(generator, *leading, q, d, dtype=kind),
            "key": normal(generator, *leading, k, d, dtype=kind),
            "value": normal(generator, *leading, k, v, dtype=kind),
        }

    def allow(*sizes: int) -> torch.Tensor:
        return mask(generator, *sizes)

    b, q, k, d, v = dims(generator, 5, 2, 7)
    batch, heads, rows, keys, d_head = dims(generator, 5, 2, 6)
    side = int(generator.integers(3, 5))
    large = draw(b, q=q, k=k, d=d, v=v)
    large |= {"query": 40 * large["query"], "key": 40 * large["key"], "mask": allow(b, q, k)}
    laid_out = {name: strided(tensor) for name, tensor in draw(b, q=q, k=k, d=d, v=v).items()}
    four = {"q": rows, "k": keys, "d": d_head, "v": d_head}
    return [
        Case("with five different sizes", draw(b, q=q, k=k, d=d, v=v), USUAL),
        Case("with a mask", {**draw(b, q=q, k=k, d=d, v=v), "mask": allow(b, q, k)}, USUAL),
        Case("with heads and a mask", {**draw(batch, heads, **four), "mask": allow(batch, heads, rows, keys)}, USUAL),
        Case("where all sizes are equal", draw(side, q=side, k=side, d=side, v=side), USUAL),
        Case("with one mask for the batch", {**draw(b, q=q, k=k, d=d, v=v), "mask": allow(q, k)}, tagged("broadcast")),
        Case(
            "with heads and a padding mask",
            {**draw(batch, heads, **four), "mask": padding(generator, batch, keys)},
            tagged("broadcast"),
        ),
        Case(
            "with heads that share a mask",
            {**draw(batch, heads, **four), "mask": allow(batch, 1, rows, keys)},
            tagged("broadcast"),
        ),
        Case("on a batch of one, with one query", draw(1, q=1, k=k, d=d, v=v), tagged("thin")),
        Case("with one key, and vectors of length one", draw(b, q=q, k=1, d=1, v=v), tagged("thin")),
        Case("without a batch", draw(q=q, k=k, d=d, v=v), tagged("thin")),
        Case(
            "with a row that allows nothing",
            {**draw(b, q=q, k=k, d=d, v=v), "mask": with_an_empty_row(allow(b, q, k))},
            tagged("empty"),
        ),
        Case("with very large scores", large, tagged("large")),
        Case("with float64", draw(b, q=q, k=k, d=d, v=v, kind=torch.float64), tagged("float64")),
        Case("with tensors that are not contiguous", laid_out, tagged("strided")),
    ]


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    symbol="scaled_dot_product_attention",
    points=3,
    cases=_triples,
    references=(scaled_dot_product_attention,),
    canonical=leave_open,
    aspects=(
        shape(),
        values(),
        attention_weights(),
        gradients(),
        both("masks that broadcast", "broadcast", 2.0),
        both("axes of length one, and none", "thin"),
        both("a row with nothing allowed", "empty"),
        both("large scores", "large"),
        dtype(),
        both("float64", "float64"),
        both("any layout in memory", "strided", 0.5),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
