"""`MLP`: how it is tried. The probe, in `probes`, hands the weights in."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    BATCH_OF_ONE,
    FLOAT64,
    LAYOUT,
    also,
    any_numbers,
    gradients,
    modes,
    untouched,
    values,
)
from grader.authoring.draw import strided
from grader.authoring.spec import Case, Trial
from lessons.lesson_01.drawing import SINGLE_LAYER
from lessons.lesson_01.networks import NetworkSizes, draw_network


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(widths: list[int], n: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"sizes": widths, **draw_network(generator, widths, n, dtype)}

    sizes = NetworkSizes(generator)
    apart = drawn(sizes.two, sizes.n)
    apart = {**apart, "inputs": strided(apart["inputs"])}
    return [
        *sizes.cases(drawn),
        Case.of("with a model and inputs in float64", FLOAT64, **drawn(sizes.two, sizes.n, torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **apart),
    ]


TRIAL = Trial(
    module="course.mlp",
    points=3,
    cases=cases,
    aspects=(
        also(
            "layers",
            "layers",
            "separate",
            weight=3.0,
            meaning="model.layers holds the Linear layers, in order, each with weights of its own.",
        ),
        also(
            "parameters registered",
            "parameters",
            weight=9.0,
            meaning="model.parameters() lists every weight and every bias, so that an optimiser can train them.",
        ),
        values(),
        gradients(),
        SINGLE_LAYER,
        BATCH_OF_ONE,
        *any_numbers(),
        modes(weight=1.0),
        untouched(),
    ),
)
