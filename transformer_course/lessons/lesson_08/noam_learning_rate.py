"""`noam_learning_rate`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import of_function, special
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.refusing import CALLED, refusal, refused

FIRST = special("the first step", meaning="Steps count from 1, and the first one has its rate.")
BEFORE, BY_ITS_NAME = refused("a step before the first is refused", weight=0.5)
PEAK = special("at the peak and just after it", meaning="The rate is highest at step warmup_steps.")


def cases(generator: np.random.Generator) -> list[Case]:
    warmup = int(generator.integers(40, 90))
    d_model = int(generator.choice([24, 48, 96]))

    def case(label: str, *about: Aspect, step: int, width: int = d_model) -> Case:
        return Case.of(label, *about, step=step, d_model=width, warmup_steps=warmup)

    return [
        case("in the middle of the warm-up", step=warmup // 2),
        case("long after the warm-up", step=9 * warmup + 5),
        case("with a wide model", step=warmup // 3, width=1024),
        case("at the first step", FIRST, step=1),
        case("at the peak", PEAK, step=warmup),
        case("just after the peak", PEAK, step=warmup + 1),
        case("at step 0", BEFORE, step=0),
        case("at a step below 0", BEFORE, step=-3),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The rate; before the first step, which error there is instead."""
    return refusal(symbol, *inputs.values()) if inputs["step"] < 1 else in_order(symbol, inputs)


TRIAL = Trial(
    module="transformer_course.paper.schedule",
    points=1,
    cases=cases,
    probe=probe,
    called=CALLED,
    aspects=(*of_function(), FIRST, PEAK, BEFORE, BY_ITS_NAME),
)
