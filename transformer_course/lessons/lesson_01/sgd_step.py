"""`sgd_step`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.calls import state, tensors_in
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, WIDTH_ONE, draw_params


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: list[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        return {
            "params": draw_params(generator, sizes, dtype),
            "gradients": draw_params(generator, sizes, dtype),
            "learning_rate": round(float(generator.uniform(0.05, 0.4)), 3),
        }

    four = dims(generator, 4)
    side = int(generator.integers(3, 6))
    laid_out = with_gaps(drawn(dims(generator, 3)))
    return [
        Case.of("with three layers", **drawn(four)),
        Case.of("where all sizes are equal", **drawn([side] * 3)),
        Case.of("with a large learning rate", **{**drawn(four[:3]), "learning_rate": 3.0}),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(four[:2])),
        Case.of("with layers of width one", WIDTH_ONE, **drawn([1, 1, 1])),
        Case.of("with float64", aspects.FLOAT64, **drawn(four, torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    params, gradients = inputs["params"], inputs["gradients"]
    old = tensors_in(params)  # the tensors themselves, even where the list gets others
    output = symbol(params, gradients, inputs["learning_rate"])
    return {"output": output, "arguments": [state((params, gradients)), old]}


TRIAL = Trial(
    module="transformer_course.training",
    points=1,
    cases=cases,
    probe=probe,
    aspects=(
        aspects.shape(),
        aspects.values(),
        SINGLE_LAYER,
        WIDTH_ONE,
        *aspects.any_numbers(),
        aspects.untouched("old parameters untouched", weight=10.0),
    ),
)
