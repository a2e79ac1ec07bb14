"""`DecoderLayer`: how it is tried. The cases are those of lesson 4's block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.authoring.aspects import dtype, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Aspect, Case, Trial, tagged
from lessons.aspects import special
from lessons.lesson_04.DecoderBlock import TRIAL as DECODER_BLOCK


def cases(generator: np.random.Generator) -> list[Case]:
    cases = DECODER_BLOCK.cases(generator)
    first = cases[0]
    return [
        *cases,
        replace(first, label="with dropout", inputs={**first.inputs, "rate": 0.5}, tags=tagged("rate")),
        replace(
            first, label="with norm_first=True", inputs={**first.inputs, "norm_first": True}, tags=tagged("pre_norm")
        ),
    ]


TRIAL = Trial(
    module="course.paper.layers",
    points=2,
    cases=cases,
    canonical=DECODER_BLOCK.canonical,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("self_mask", "self_mask", 2.0, meaning="The self-attention follows self_mask."),
        special("encoder_mask", "encoder_mask", 2.0, meaning="The cross-attention follows encoder_mask."),
        special("axes of length one", "one"),
        special("a source that is all padding", "empty", 0.5),
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=2.0,
            meaning="In training mode numbers are dropped at random; in evaluation mode none are.",
        ),
        dtype(),
        special("float64", "float64"),
        Aspect(
            "pre-norm as an option",
            keys=("pre_norm",),
            tags=tagged("pre_norm"),
            meaning="With norm_first=True, what goes into each step is normalised, and the sums aren't.",
        ),
        modes(),
        untouched(),
    ),
)
