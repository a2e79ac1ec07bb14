"""`l2_penalty`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, any_numbers, untouched, values
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import dims, with_gaps
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, WIDTH_ONE, draw_params, learning
from transformer_course.lessons.lesson_01.single_number import ONE_NUMBER, one_number


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: list[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"params": draw_params(generator, sizes, dtype)}

    sizes = dims(generator, 5)
    side = int(generator.integers(3, 6))
    return [
        Case.of("with two layers", **drawn(sizes[:3])),
        Case.of("with four layers", **drawn(sizes)),
        Case.of("where all sizes are equal", **drawn([side] * 4)),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(sizes[3:])),
        Case.of("with layers of width one", WIDTH_ONE, **drawn([1, sizes[0], 1])),
        Case.of("with float64", FLOAT64, **drawn(sizes[1:4], torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **with_gaps(drawn(sizes[:3]))),
    ]


TRIAL = Trial(
    module="transformer_course.mlp",
    points=1,
    cases=cases,
    probe=in_order_with_gradients(0),
    canonical=one_number,
    aspects=(ONE_NUMBER, values(), *learning(11.0), SINGLE_LAYER, WIDTH_ONE, *any_numbers(), untouched()),
)
