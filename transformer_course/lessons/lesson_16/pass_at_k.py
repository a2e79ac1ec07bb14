"""`pass_at_k`: how it is tried."""

import math
from typing import Any

import numpy as np

from cellcheck.authoring import Case, Observation, Trial, aspects
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind

ONE = aspects.special("one answer drawn", meaning="With k = 1, it is the share of right answers.")
NONE = aspects.special("none right", meaning="Where no answer was right, the chance is 0.")
FEW_WRONG = aspects.special(
    "fewer wrong ones than k", "", 2.0, "Where fewer than k answers were wrong, one of k is right for certain."
)
JUST_ENOUGH = aspects.special(
    "as many wrong ones as k", meaning="Where exactly k answers were wrong, all k drawn may be wrong."
)
ALL_OF_THEM = aspects.special("k is all of them", meaning="k may be as large as the number of samples.")
MANY = aspects.special("hundreds of samples", meaning="With hundreds of samples, the result is accurate too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def between(low: int, high: int) -> int:
        return int(generator.integers(low, high + 1))

    border = between(2, 3)
    n = int(generator.choice([13, 17]))  # primes, so that no chance is a round number
    return [
        Case.of("with a few right ones", samples=n, right=2, k=between(3, 4)),
        Case.of("with more right ones", samples=19, right=5, k=2),
        Case.of("with many drawn", samples=n, right=between(3, 4), k=5),
        Case.of("with one answer drawn", ONE, samples=n, right=between(3, 5), k=1),
        Case.of("with no right answer", NONE, samples=n, right=0, k=between(2, 5)),
        Case.of("with fewer wrong answers than are drawn", FEW_WRONG, samples=n, right=n - 2, k=between(3, 6)),
        Case.of("with nothing but right answers", FEW_WRONG, samples=n, right=n, k=between(2, 3)),
        Case.of("with as many wrong answers as are drawn", JUST_ENOUGH, samples=n, right=n - border, k=border),
        Case.of("with all answers drawn", ALL_OF_THEM, samples=n, right=between(2, 4), k=n),
        Case.of(
            "with hundreds of samples",
            MANY,
            samples=int(generator.choice([401, 503, 601])),
            right=between(3, 4),
            k=between(90, 110),
        ),
    ]


def probe(symbol: Any, inputs: Any) -> dict[str, Any]:
    """The number, and what kind of number it is."""
    return number_and_kind(symbol(**inputs))


def in_words(observation: Observation, case: Case) -> Observation:
    """Where the chance of failing is a product that lacks one of its factors, it doesn't matter which."""
    output, (samples, right, k) = observation.get("output"), case.inputs.values()
    factors = [(samples - right - drawn) / (samples - drawn) for drawn in range(k)]
    if not isinstance(output, float) or min(factors) <= 0 or abs(1 - output - math.prod(factors)) < 1e-9:
        return observation
    if any(abs((1 - output) * factor - math.prod(factors)) < 1e-9 for factor in factors):
        return {**observation, "output": "one draw fewer than k"}
    return observation


TRIAL = Trial(
    module="transformer_course.rewards.groups",
    points=1,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"kind": "what is returned"},
    aspects=(A_FLOAT, aspects.values(8.0), ONE, NONE, FEW_WRONG, JUST_ENOUGH, ALL_OF_THEM, MANY),
)
