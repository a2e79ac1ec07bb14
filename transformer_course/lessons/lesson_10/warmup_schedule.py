"""`warmup_schedule`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import special, values
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind

FIRST = special("the first step", weight=2.0, meaning="Steps count from 1, and the first rate is peak / warmup_steps.")
PEAK = special("at the peak and shortly after it", weight=2.0, meaning="The rate is highest at step warmup_steps.")
LAST = special("the last step", meaning="At step total_steps the rate is 0.")
ONE = special(
    "a warm-up of one step", meaning="With warmup_steps=1, step 1 is at the peak, and the rate falls from there."
)
AFTER = special("after the last step", weight=2.0, meaning="After total_steps the rate stays 0.")


def cases(generator: np.random.Generator) -> list[Case]:
    def settings() -> tuple[int, int, float]:
        return (
            int(generator.integers(20, 40)),
            int(generator.integers(150, 250)),
            float(generator.uniform(0.002, 0.009)),
        )

    def case(label: str, step: int, *about: Aspect) -> Case:
        return Case.of(label, *about, step=step, warmup_steps=warmup, total_steps=total, peak=peak)

    warmup, total, peak = settings()
    cases = [
        case("a quarter of the way up", warmup // 4),
        case("a quarter of the way down", warmup + (total - warmup) // 4),
        case("at the first step", 1, FIRST),
        case("at the peak", warmup, PEAK),
        case("at the last step", total, LAST),
        case("long after the last step", 2 * total - warmup // 2, AFTER),
    ]
    warmup, total, peak = settings()  # the next run: what a function remembers of the first shows
    cases += [
        case("in the middle of the warm-up", warmup // 2),
        case("long after the warm-up", warmup + 3 * (total - warmup) // 4),
        case("at the first step of another run", 1, FIRST),
        case("shortly after the peak", warmup + (total - warmup) // 6, PEAK),
        case("one step after the last", total + 1, AFTER),
    ]
    warmup = 1
    return [
        *cases,
        case("at the first step of a warm-up of one", 1, ONE),
        case("halfway with a warm-up of one", total // 2, ONE),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The rate, and what it comes in."""
    return number_and_kind(symbol(*inputs.values()))


TRIAL = Trial(
    module="transformer_course.training_well.schedule",
    points=2,
    cases=cases,
    probe=probe,
    called={"output": "the rate", "kind": "what is returned"},
    aspects=(
        A_FLOAT,
        values(6.0),
        FIRST,
        PEAK,
        LAST,
        AFTER,
        ONE,
    ),
)
