"""`relative_attention_scores`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal
from transformer_course.lessons.lesson_06 import scored
from transformer_course.lessons.lesson_06.drawing import draw_positions, with_heads_cut_out
from transformer_course.lessons.lesson_06.precision import ANY_NUMBERS, in_single_precision

ELSEWHERE = aspects.special("any positions", "", 9.0, "Positions may come in any order.")
ONE = aspects.special(
    "a batch of one, a single position", meaning="A batch of one and a single position give the right result too."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {
            "query": normal(generator, *sizes, dtype=kind),
            "key": normal(generator, *sizes, dtype=kind),
            "positions": torch.arange(sizes[-2]),
            "follow": kind == torch.float32,
        }

    def elsewhere(*sizes: int) -> dict[str, Any]:
        return {**draw(*sizes), "positions": draw_positions(generator, sizes[-2]), "follow": False}

    batch, heads, length, half = dims(generator, 4, 2, 6)
    side = 2 * int(generator.integers(2, 4))
    moved = draw(batch, length, 2 * half)
    moved["positions"] = torch.arange(length) + int(generator.integers(10, 30))
    laid_out = elsewhere(batch, heads, length, 2 * half)
    laid_out["query"], laid_out["key"] = with_heads_cut_out(laid_out["query"]), with_heads_cut_out(laid_out["key"])
    return [
        Case.of("with rows of vectors", **draw(batch, length, 2 * half)),
        Case.of("with several heads", **draw(batch, heads, length, 2 * half)),
        Case.of("where all sizes are equal", **draw(side, side, side)),
        Case.of("with positions far from 0", **moved),
        Case.of("with positions in no order", ELSEWHERE, **elsewhere(half, length, 2 * batch)),
        Case.of("with several heads and positions in no order", ELSEWHERE, **elsewhere(batch, 2, heads, 4)),
        Case.of("on a batch of one", ONE, **elsewhere(1, length, 2 * heads)),
        Case.of("with a single position", ONE, **elsewhere(batch, 1, 2 * half)),
        Case.of("with float64", aspects.FLOAT64, **draw(batch, length, 2 * heads, kind=torch.float64)),
        Case.of("with heads that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """In single precision, and in words how the scores were made."""
    return scored.in_words(in_single_precision(observation, case), case)


TRIAL = Trial(
    module="transformer_course.positions",
    points=2,
    cases=cases,
    canonical=canonical,
    called=scored.CALLED,
    aspects=(
        aspects.shape(),
        aspects.values(),
        *scored.SPOKEN,
        aspects.gradients(),
        ELSEWHERE,
        aspects.also(
            "only distances count",
            "moved",
            meaning="Adding the same number to all positions leaves the scores as they were.",
        ),
        ONE,
        *ANY_NUMBERS,
        aspects.untouched(),
    ),
)
