"""`MLP`: how it is tried. The probe, in `probes`, hands the weights in."""

from typing import Any

import numpy as np

from cellcheck.authoring import Aspect, Case, Trial, aspects
from cellcheck.authoring.draw import with_gaps
from transformer_course.lessons.lesson_01.computed import CALLED, COMPUTED, in_words
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER
from transformer_course.lessons.lesson_01.networks import Float, NetworkSizes, draw_network

A_NETWORK = Aspect(
    "a network that can be trained",
    ("parameters", COMPUTED, "output", "gradients"),
    aspects.KNOWN,
    weight=15.0,
    tags=aspects.USUAL,
    meaning="It all works together: the predictions are right, and gradients reach every weight.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(widths: list[int], n: int, dtype: Float = np.float32) -> dict[str, Any]:
        return {"sizes": widths, **draw_network(generator, widths, n, dtype)}

    sizes = NetworkSizes(generator)
    laid_out = with_gaps(drawn(sizes.two, sizes.n))
    return [
        *sizes.cases(drawn),
        Case.of("with a model and inputs in float64", aspects.FLOAT64, **drawn(sizes.two, sizes.n, np.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="transformer_course.mlp",
    points=3,
    cases=cases,
    canonical=in_words,
    called=CALLED,
    aspects=(
        A_NETWORK,
        aspects.also(
            "layers",
            "layers",
            "separate",
            weight=3.0,
            meaning="model.layers holds the Linear layers, in order, each with weights of its own.",
        ),
        aspects.also(
            "parameters registered",
            "parameters",
            weight=4.0,
            meaning="model.parameters() lists every weight and every bias, so that an optimiser can train them.",
        ),
        aspects.worded(aspects.values(), COMPUTED),
        aspects.gradients(3.0),
        SINGLE_LAYER,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(),
        aspects.modes(weight=1.0),
        aspects.untouched(),
    ),
)
