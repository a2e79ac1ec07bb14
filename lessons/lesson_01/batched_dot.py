"""`batched_dot`: how it is tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    BATCH_OF_ONE,
    FLOAT64,
    LAYOUT,
    LENGTH_ONE,
    any_numbers,
    gradients,
    shape,
    untouched,
    values,
)
from grader.authoring.calls import in_order_with_gradients
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Trial


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: Sequence[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        batch, n, m, d = sizes
        return {
            "a": normal(generator, batch, n, d, dtype=dtype),
            "b": normal(generator, batch, m, d, dtype=dtype),
        }

    def four() -> list[int]:
        return dims(generator, 4)

    _, n, m, d = four()
    side = int(generator.integers(3, 5))
    thin = dims(generator, 2)
    laid_out = {name: strided(tensor) for name, tensor in drawn(four()).items()}
    return [
        Case.of("with four different sizes", **drawn(four())),
        Case.of("with four other sizes", **drawn(dims(generator, 4, 3, 9))),
        Case.of("where all sizes are equal", **drawn([side] * 4)),
        Case.of("on a batch of one example", BATCH_OF_ONE, **drawn([1, n, m, d])),
        Case.of("with one row in a and one row in b", LENGTH_ONE, **drawn([thin[0], 1, 1, thin[1]])),
        Case.of("with rows of length one", LENGTH_ONE, **drawn([thin[1], n, m, 1])),
        Case.of("with float64", FLOAT64, **drawn(four(), torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="course.tensors",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1),
    aspects=(shape(), values(), gradients(), BATCH_OF_ONE, LENGTH_ONE, *any_numbers(), untouched()),
)
