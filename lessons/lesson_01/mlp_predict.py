"""`mlp_predict`: how it is tried."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from grader.authoring.aspects import (
    BATCH_OF_ONE,
    FLOAT64,
    LAYOUT,
    any_numbers,
    gradients,
    shape,
    untouched,
    values,
)
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Trial
from lessons.lesson_01.drawing import SINGLE_LAYER, spread
from lessons.lesson_01.networks import NetworkSizes, draw_network


def cases(generator: np.random.Generator) -> list[Case]:
    sizes = NetworkSizes(generator)
    apart = draw_network(generator, dims(generator, 3, 3, 7), 4)
    apart = {"params": spread(apart["params"]), "inputs": strided(apart["inputs"])}
    return [
        *sizes.cases(partial(draw_network, generator)),
        Case.of("with float64", FLOAT64, **draw_network(generator, sizes.two, sizes.n, torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **apart),
    ]


TRIAL = Trial(
    module="course.mlp",
    points=2,
    cases=cases,
    aspects=(shape(), values(), gradients(), SINGLE_LAYER, BATCH_OF_ONE, *any_numbers(), untouched()),
)
