"""`warmup_schedule`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import shape, special, untouched, values
from grader.authoring.spec import Aspect, Case, Trial

FIRST = special("the first step", weight=2.0, meaning="Steps count from 1, and the first rate is peak / warmup_steps.")
PEAK = special("at the peak and shortly after it", weight=2.0, meaning="The rate is highest at step warmup_steps.")
LAST = special("the last step", meaning="At step total_steps the rate is 0.")
AFTER = special("after the last step", weight=2.0, meaning="After total_steps the rate stays 0.")


def cases(generator: np.random.Generator) -> list[Case]:
    warmup = int(generator.integers(20, 40))
    total = int(generator.integers(150, 250))
    peak = float(generator.uniform(0.002, 0.009))

    def case(label: str, step: int, *about: Aspect) -> Case:
        return Case.of(label, *about, step=step, warmup_steps=warmup, total_steps=total, peak=peak)

    return [
        case("a quarter of the way up", warmup // 4),
        case("in the middle of the warm-up", warmup // 2),
        case("a quarter of the way down", warmup + (total - warmup) // 4),
        case("long after the warm-up", warmup + 3 * (total - warmup) // 4),
        case("at the first step", 1, FIRST),
        case("at the peak", warmup, PEAK),
        case("shortly after the peak", warmup + 8, PEAK),
        case("at the last step", total, LAST),
        case("long after the last step", 2 * total - warmup // 2, AFTER),
        case("one step after the last", total + 1, AFTER),
    ]


TRIAL = Trial(
    module="course.training_well.schedule",
    points=2,
    cases=cases,
    aspects=(
        shape("a Python float", "The result is a plain number."),
        values(6.0),
        FIRST,
        PEAK,
        LAST,
        AFTER,
        untouched(weight=0.5),
    ),
)
