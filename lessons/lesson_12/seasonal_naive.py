"""`seasonal_naive`: how it is tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from grader.authoring import draw
from grader.authoring.aspects import FLOAT64, USUAL, dtype, special, untouched, values
from grader.authoring.spec import Aspect, Case, Trial

LONG = special("a horizon longer than the period", weight=5.0, meaning="A long horizon repeats the last period.")
SHORT = special("a history of one period", meaning="A history of exactly one period is enough.")
ONE = special("a period or a horizon of one", meaning="The period and the horizon may be one.")
WHOLE = special("whole numbers", weight=0.5, meaning="A history of whole numbers works too.")


def cases(generator: np.random.Generator) -> list[Case]:
    p = int(generator.integers(3, 6))
    n = 2 * p + 1 + int(generator.integers(0, 2))  # never a multiple of the period
    whole = torch.arange(1, n + 1) * int(generator.integers(2, 5))

    def history(length: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        return draw.normal(generator, length, dtype=dtype)

    return [
        Case.of("within one period", history=history(n), period=p, horizon=p - 1),
        Case.of("with a long history", history=history(n + 2 * p), period=p, horizon=p - 1),
        Case.of("over exactly one period", history=history(n), period=p, horizon=p),
        Case.of("with a horizon longer than the period", LONG, history=history(n), period=p, horizon=p + 2),
        Case.of("with a horizon of almost three periods", LONG, history=history(n), period=p, horizon=3 * p - 1),
        Case.of("with a history of exactly one period", SHORT, history=history(p), period=p, horizon=p - 1),
        Case.of("with a period of one", ONE, history=history(n), period=1, horizon=4),
        Case.of("with a horizon of one", ONE, history=history(n), period=p, horizon=1),
        Case.of("with whole numbers", WHOLE, history=whole, period=p, horizon=p),
        Case.of("with float64", FLOAT64, history=history(n, torch.float64), period=p, horizon=p),
    ]


TRIAL = Trial(
    module="course.beyond.series",
    points=1,
    cases=cases,
    aspects=(
        Aspect(
            "shape (horizon,)",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The forecast has one value for each step.",
        ),
        values(6.0),
        LONG,
        SHORT,
        ONE,
        WHOLE,
        dtype(weight=0.5),
        replace(FLOAT64, weight=0.5),
        untouched(weight=0.5),
    ),
)
