"""`mlp_predict`: how it is tried."""

from functools import partial

import numpy as np

from cellcheck.authoring import Aspect, Case, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.lesson_01.computed import CALLED, COMPUTED, in_words
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, learning
from transformer_course.lessons.lesson_01.networks import NetworkSizes, draw_network

A_NETWORK = Aspect(
    "a network that can learn",
    (COMPUTED, "output", "gradients"),
    aspects.CONTENT,
    weight=16.0,
    tags=aspects.USUAL,
    meaning="It all works together: the predictions are right, and gradients flow back to every weight.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    sizes = NetworkSizes(generator)
    falling = sorted(dims(generator, 3, 3, 7), reverse=True)  # so that sorting the layers by size shows
    apart = draw_network(generator, falling, 4)
    return [
        *sizes.cases(partial(draw_network, generator)),
        Case.of("with float64", aspects.FLOAT64, **draw_network(generator, sizes.two, sizes.n, np.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(apart)),
    ]


TRIAL = Trial(
    module="transformer_course.mlp",
    points=1,
    cases=cases,
    canonical=in_words,
    called=CALLED,
    aspects=(
        A_NETWORK,
        aspects.shape(),
        aspects.worded(aspects.values(), COMPUTED),
        *learning(3.0),  # what tensors can do that arrays can't
        SINGLE_LAYER,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(),
        aspects.untouched(),
    ),
)
