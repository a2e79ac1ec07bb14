"""`pick`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import dims, integers, normal, with_gaps

SINGLE_ROW = aspects.special("a single row", meaning="A single row gives the right result too.")
ONE_ENTRY = aspects.special("rows of one entry", meaning="Rows with a single entry give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, k: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        while True:
            index, values = integers(generator, 0, k, n), normal(generator, n, k, dtype=dtype)
            # Neither the diagonal nor one column, nor the same from the end, and not 0 in the first row: otherwise some
            # wrong ways to pick would look right. Nor does a sorted row have the same numbers in these places.
            likely = (torch.arange(n), index[:1].expand(n), index.flip(0))
            told_apart = n == 1 or k == 1 or not any(torch.equal(index, other) for other in likely)
            in_order = values.sort(dim=1).values
            if k == 1 or (told_apart and index[0] > 0 and bool((in_order != values)[torch.arange(n), index].any())):
                return {"values": values, "index": index}

    small, large = sorted(dims(generator, 2, 3, 8))
    side = int(generator.integers(4, 7))
    ends = {**drawn(5, 4), "index": torch.tensor([3, 0, 3, 3, 0])}
    n, k = dims(generator, 2, 3, 6)
    laid_out = with_gaps(drawn(k, n))
    return [
        Case.of("with more columns than rows", **drawn(small, large)),
        Case.of("with more rows than columns", **drawn(large, small)),
        Case.of("with as many rows as columns", **drawn(side, side)),
        Case.of("with the first and the last entry of a row", **ends),
        Case.of("on a single row", SINGLE_ROW, **drawn(1, k)),
        Case.of("with rows of one entry", ONE_ENTRY, **drawn(n, 1)),
        Case.of("with float64", aspects.FLOAT64, **drawn(n, k, torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="transformer_course.tensors",
    points=1,
    cases=cases,
    probe=in_order_with_gradients(0),
    aspects=aspects.of_tensors(SINGLE_ROW, ONE_ENTRY),
)
