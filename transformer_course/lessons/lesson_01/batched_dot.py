"""`batched_dot`: how it is tried."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import dims, normal, with_gaps


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: Sequence[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        batch, n, m, d = sizes
        return {"a": normal(generator, batch, n, d, dtype=dtype), "b": normal(generator, batch, m, d, dtype=dtype)}

    def four() -> list[int]:
        return dims(generator, 4)

    _, n, m, d = four()
    side = int(generator.integers(3, 5))
    thin = dims(generator, 2)
    laid_out = with_gaps(drawn(four()))
    return [
        Case.of("with four different sizes", **drawn(four())),
        Case.of("with four other sizes", **drawn(dims(generator, 4, 3, 9))),
        Case.of("where all sizes are equal", **drawn([side] * 4)),
        Case.of("on a batch of one example", aspects.BATCH_OF_ONE, **drawn([1, n, m, d])),
        Case.of("with one row in a and one row in b", aspects.LENGTH_ONE, **drawn([thin[0], 1, 1, thin[1]])),
        Case.of("with rows of length one", aspects.LENGTH_ONE, **drawn([thin[1], n, m, 1])),
        Case.of("with float64", aspects.FLOAT64, **drawn(four(), torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="transformer_course.tensors",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1),
    aspects=aspects.of_tensors(aspects.BATCH_OF_ONE, aspects.LENGTH_ONE),
)
