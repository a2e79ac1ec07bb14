"""`noam_learning_rate`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import of_function, special
from grader.authoring.spec import Aspect, Case, Trial

FIRST = special("the first step", meaning="Steps count from 1, and the first one has its rate.")
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
    ]


TRIAL = Trial(module="course.paper.schedule", points=1, cases=cases, aspects=(*of_function(), FIRST, PEAK))
