"""`linear_gradients`: how it is tried. The one gradient of the lesson that is worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import BATCH_OF_ONE, dtype, shape, special, untouched, values
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Trial
from lessons.lesson_01.drawing import to_numpy

FLOAT32 = special("float32")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, d_in: int, d_out: int, dtype: torch.dtype = torch.float64) -> Any:
        W, b, *batch = (
            normal(generator, *size, dtype=dtype) for size in ((d_in, d_out), (d_out,), (n, d_in), (n, d_out))
        )
        return to_numpy({"W": W, "b": b, "batch": tuple(batch)})

    n, d_in, d_out = dims(generator, 3, 2, 8)
    side = int(generator.integers(3, 6))
    return [
        Case.of("with several inputs and several outputs", **drawn(n, d_in, d_out)),
        Case.of("with one output", **drawn(n, d_in, 1)),
        Case.of("with one input", **drawn(d_in, 1, d_out)),
        Case.of("with n, d_in and d_out all equal", **drawn(side, side, side)),
        Case.of("on a batch of one", BATCH_OF_ONE, **drawn(1, d_in, d_out)),
        Case.of("with float32", FLOAT32, **drawn(n, d_in, d_out, torch.float32)),
    ]


TRIAL = Trial(
    module="course.mlp_numpy",
    points=2,
    cases=cases,
    aspects=(shape(), values(), BATCH_OF_ONE, dtype(), FLOAT32, untouched()),
)
