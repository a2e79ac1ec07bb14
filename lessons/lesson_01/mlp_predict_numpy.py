"""`mlp_predict_numpy`: how it is tried. In NumPy, float64 is the usual thing, and float32 the one to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import BATCH_OF_ONE, dtype, shape, special, untouched, values
from grader.authoring.spec import Case, Trial
from lessons.lesson_01.drawing import SINGLE_LAYER, to_numpy
from lessons.lesson_01.networks import NetworkSizes, draw_network

FLOAT32 = special("float32")


def cases(generator: np.random.Generator) -> list[Case]:
    sizes = NetworkSizes(generator)

    def drawn(widths: list[int], n: int, dtype: torch.dtype = torch.float64) -> Any:
        return to_numpy(draw_network(generator, widths, n, dtype))

    return [*sizes.cases(drawn), Case.of("with float32", FLOAT32, **drawn(sizes.two, sizes.n, torch.float32))]


TRIAL = Trial(
    module="course.mlp_numpy",
    points=2,
    cases=cases,
    aspects=(shape(), values(), SINGLE_LAYER, BATCH_OF_ONE, dtype(), FLOAT32, untouched()),
)
