"""`mse_loss`: how it is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from grader.authoring.aspects import (
    BATCH_OF_ONE,
    FLOAT64,
    LAYOUT,
    any_numbers,
    gradients,
    special,
    untouched,
    values,
)
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Trial
from lessons.lesson_01.drawing import spread
from lessons.lesson_01.networks import draw_batch
from lessons.lesson_01.single_number import ONE_NUMBER, one_number

# The classic trap: (n, 1) against (n,) broadcasts without a word.
ONE_OUTPUT = special(
    "one output", weight=5.0, meaning="With one output, each prediction is compared with its own target and no other."
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, *three = dims(generator, 4, 3, 8)
    side = int(generator.integers(3, 6))
    d_in, d_hidden, rows = dims(generator, 3, 3, 8)
    apart = draw_batch(generator, dims(generator, 3, 3, 7), 4)
    apart = {"params": spread(apart["params"]), "batch": tuple(map(strided, apart["batch"]))}
    return [
        Case.of("with several outputs", **draw_batch(generator, three, n)),
        Case.of("where all sizes are equal", **draw_batch(generator, [side] * 3, side)),
        Case.of("with a single layer", **draw_batch(generator, three[:2], n)),
        Case.of("with one output", ONE_OUTPUT, **draw_batch(generator, [d_in, d_hidden, 1], rows)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw_batch(generator, three, 1)),
        Case.of("with float64", FLOAT64, **draw_batch(generator, three, n, torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **apart),
    ]


TRIAL = Trial(
    module="course.mlp",
    points=1,
    cases=cases,
    canonical=one_number,
    aspects=(
        ONE_NUMBER,
        values(),
        gradients(8.0),
        replace(ONE_OUTPUT, weight=3.0),  # a squeeze costs gradients, too
        BATCH_OF_ONE,
        *any_numbers(),
        untouched(),
    ),
)
