"""`PositionwiseFeedForward`: how it is tried. It is lesson 3's network, with dropout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.authoring.spec import Aspect, Case, Trial, tagged
from lessons.lesson_03.FeedForward import TRIAL as FEED_FORWARD


def cases(generator: np.random.Generator) -> list[Case]:
    cases = FEED_FORWARD.cases(generator)
    return [
        *cases,
        replace(cases[0], label="with dropout", inputs={**cases[0].inputs, "rate": 0.5}, tags=tagged("rate")),
    ]


TRIAL = Trial(
    module="course.paper.layers",
    points=1,
    cases=cases,
    aspects=(
        *FEED_FORWARD.aspects,
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=3.0,
            meaning="In training mode numbers are dropped at random, at the rate given; in evaluation mode none are.",
        ),
    ),
)
