"""`PositionwiseFeedForward`: how it is tried. It is lesson 3's network, with dropout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellcheck.authoring.spec import Aspect, Case, Trial, tagged
from transformer_course.lessons.lesson_03.FeedForward import TRIAL as FEED_FORWARD
from transformer_course.lessons.lesson_08.layer_cases import STARTS, WHAT_IS_DROPPED


def cases(generator: np.random.Generator) -> list[Case]:
    cases = FEED_FORWARD.cases(generator)
    dropping = {**cases[0].inputs, "look": "dropping"}
    return [*cases, replace(cases[0], label="with dropout", inputs=dropping, tags=tagged("dropping"))]


TRIAL = Trial(
    module="transformer_course.paper.layers",
    points=1,
    cases=cases,
    called=WHAT_IS_DROPPED,
    aspects=(
        *FEED_FORWARD.aspects,
        Aspect(
            "dropout on the output",
            keys=("in_training",),
            tags=tagged("dropping"),
            weight=9.0,
            central=True,
            meaning="In training mode outputs are dropped, each for itself, once and at the rate given.",
        ),
        Aspect(
            "nothing dropped in evaluation mode",
            keys=("in_evaluation",),
            tags=tagged("dropping"),
            weight=3.0,
            meaning="In evaluation mode nothing is dropped, and nothing is scaled.",
        ),
        replace(STARTS, tags=tagged("dropping")),
    ),
)
