"""`pick`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import FLOAT64, LAYOUT, any_numbers, gradients, shape, special, untouched, values
from grader.authoring.calls import in_order_with_gradients
from grader.authoring.draw import dims, integers, normal, strided
from grader.authoring.spec import Case, Trial

SINGLE_ROW = special("a single row", meaning="A single row gives the right result too.")
ONE_ENTRY = special("rows of one entry", meaning="Rows with a single entry give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, k: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        while True:
            index = integers(generator, 0, k, n)
            # Neither the diagonal nor one column, and not 0 in the first row: otherwise some wrong ways to
            # pick would look right.
            told_apart = n == 1 or k == 1 or (len(set(index.tolist())) > 1 and not torch.equal(index, torch.arange(n)))
            if told_apart and (k == 1 or index[0] > 0):
                return {"values": normal(generator, n, k, dtype=dtype), "index": index}

    small, large = sorted(dims(generator, 2, 3, 8))
    side = int(generator.integers(4, 7))
    ends = {**drawn(5, 4), "index": torch.tensor([3, 0, 3, 3, 0])}
    n, k = dims(generator, 2, 3, 6)
    laid_out = {name: strided(tensor) for name, tensor in drawn(k, n).items()}
    return [
        Case.of("with more columns than rows", **drawn(small, large)),
        Case.of("with more rows than columns", **drawn(large, small)),
        Case.of("with as many rows as columns", **drawn(side, side)),
        Case.of("with the first and the last entry of a row", **ends),
        Case.of("on a single row", SINGLE_ROW, **drawn(1, k)),
        Case.of("with rows of one entry", ONE_ENTRY, **drawn(n, 1)),
        Case.of("with float64", FLOAT64, **drawn(n, k, torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="course.tensors",
    points=1,
    cases=cases,
    probe=in_order_with_gradients(0),
    aspects=(shape(), values(), gradients(), SINGLE_ROW, ONE_ENTRY, *any_numbers(), untouched()),
)
