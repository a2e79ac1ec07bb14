"""`EncoderLayer`: how it is tried. The cases are those of lesson 3's block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.authoring.aspects import LENGTH_ONE, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Aspect, Case, Trial, tagged
from lessons.attending import where_answered
from lessons.lesson_03.EncoderBlock import BROADCAST, EMPTY
from lessons.lesson_03.EncoderBlock import TRIAL as ENCODER_BLOCK


def cases(generator: np.random.Generator) -> list[Case]:
    cases = ENCODER_BLOCK.cases(generator)
    return [
        *cases,
        replace(cases[0], label="with dropout", inputs={**cases[0].inputs, "rate": 0.5}, tags=tagged("rate")),
        replace(
            cases[0],
            label="with norm_first=True",
            inputs={**cases[0].inputs, "norm_first": True},
            tags=tagged("pre_norm"),
        ),
    ]


TRIAL = Trial(
    module="course.paper.layers",
    points=2,
    cases=cases,
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        BROADCAST,
        LENGTH_ONE,
        EMPTY,
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=2.0,
            meaning="In training mode numbers are dropped at random; in evaluation mode none are.",
        ),
        *any_numbers(0.5),
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
