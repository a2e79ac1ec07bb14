"""`loss_gradients`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    BATCH_OF_ONE,
    CONTENT,
    FLOAT64,
    LAYOUT,
    any_numbers,
    shape,
    untouched,
    values,
)
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Aspect, Case, Observation, Trial, tagged
from lessons.aspects import special
from lessons.lesson_01.drawing import SINGLE_LAYER, spread
from lessons.lesson_01.networks import draw_batch

ONE_OUTPUT = special("one output", meaning="A network with a single output gives the right gradients too.")
OLD_GRADIENTS = Aspect(
    "old gradients untouched",
    keys=("arguments",),
    kinds=CONTENT | {"dtype"},
    weight=3.0,
    tags=tagged("used"),
    meaning="Whatever the parameters' .grad held before the call is still there after it.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, *three = dims(generator, 4, 3, 8)
    m, *five = dims(generator, 5, 3, 8)
    side = int(generator.integers(3, 6))

    def drawn(sizes: list[int], rows: int, params_are: str = "plain", dtype: torch.dtype = torch.float32) -> Any:
        return {**draw_batch(generator, sizes, rows, dtype), "params_are": params_are}

    apart = drawn(three, n)
    inputs, targets = apart["batch"]
    apart = {**apart, "params": spread(apart["params"]), "batch": (strided(inputs), targets)}
    return [
        Case.of("with two layers", **drawn(three, n)),
        Case.of("with three layers", **drawn(five, m)),
        Case.of("with parameters that require gradients", **drawn([side] * 3, side, "leaves")),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(three[:2], n)),
        Case.of("with one output", ONE_OUTPUT, **drawn([*three[:2], 1], n)),
        Case.of("on a batch of one", BATCH_OF_ONE, **drawn(three, 1)),
        Case.of("with float64", FLOAT64, **drawn(three, n, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **apart),
        Case.of("with parameters that require gradients and hold old ones", OLD_GRADIENTS, **drawn(three, n, "used")),
    ]


def without_old_gradients(observation: Observation, case: Case) -> Observation:
    """Where the parameters hold old gradients, only that they still do is asked for.

    A deep copy of a tensor brings its gradient along. The contract does not say that parameters hold any, so
    an answer that adds to the copy's gradient is not held to it.
    """
    if case.tags == OLD_GRADIENTS.tags:
        return {"arguments": observation["arguments"]}
    return observation


TRIAL = Trial(
    module="course.mlp",
    points=3,
    cases=cases,
    canonical=without_old_gradients,
    aspects=(
        shape(),
        values(),
        SINGLE_LAYER,
        ONE_OUTPUT,
        BATCH_OF_ONE,
        *any_numbers(),
        OLD_GRADIENTS,
        untouched(weight=5.0),
    ),
)
