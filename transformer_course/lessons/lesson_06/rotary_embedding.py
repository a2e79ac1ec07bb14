"""`rotary_embedding`: how it is tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, gradients, shape, untouched, values
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, integers, normal
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_06.drawing import draw_base, draw_positions, with_heads_cut_out
from transformer_course.lessons.lesson_06.precision import ANY_NUMBERS, in_single_precision, look_at_vectors
from transformer_course.lessons.lesson_06.waves import CALLED, TURN, in_words, of_rotation

ELSEWHERE = special("any positions", "", 9.0, "Positions may come in any order, more than once, and below zero.")
BASE = special("another base")
SMALLEST = special(
    "one vector, one pair", meaning="A single vector, or vectors of just two numbers, give the right result too."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        x = normal(generator, *sizes, dtype=kind)
        return {"x": x, "positions": torch.arange(sizes[-2]), "follow": kind == torch.float32}

    def elsewhere(*sizes: int) -> dict[str, Any]:
        return {**draw(*sizes), "positions": draw_positions(generator, sizes[-2]), "follow": False}

    batch, heads, length, half = dims(generator, 4, 2, 6)
    side = 2 * int(generator.integers(2, 4))
    twice = draw(batch, length, 2 * half)
    twice.update(positions=integers(generator, 0, 3, length) + 7, follow=False)
    backwards = elsewhere(batch, length, 2 * heads)
    backwards["positions"] = -backwards["positions"]
    far = elsewhere(batch, length, 2 * heads)
    far["positions"] = far["positions"] + 160  # the lesson's longest sums reach 100
    laid_out = elsewhere(batch, heads, length, 2 * half)
    laid_out["x"] = with_heads_cut_out(laid_out["x"])
    return [
        Case.of("with rows of vectors", **draw(batch, length, 2 * half)),
        Case.of("with several heads", **draw(batch, heads, length, 2 * half)),
        Case.of("where all sizes are equal", **draw(side, side, side, side)),
        Case.of("without a batch axis", **draw(length, 2 * heads)),
        Case.of("with positions in no order", ELSEWHERE, **elsewhere(half, length, 2 * batch)),
        Case.of("with several heads and positions in no order", ELSEWHERE, **elsewhere(batch, 2, heads, 4)),
        Case.of("where positions occur twice", ELSEWHERE, **twice),
        Case.of("with negative positions", ELSEWHERE, **backwards),
        Case.of("with positions beyond 160", ELSEWHERE, **far),
        Case.of("with one vector", SMALLEST, **elsewhere(1, 1, 2 * half)),
        Case.of("with vectors of two numbers", SMALLEST, **elsewhere(batch, length, 2)),
        Case.of(
            "with another base",
            BASE,
            **{**draw(heads, length, 2 * half), "base": draw_base(generator), "follow": False},
        ),
        Case.of("with float64", FLOAT64, **draw(batch, length, 2 * heads, kind=torch.float64)),
        Case.of("with heads that are not contiguous", LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What it returns, and its dtype; where the case says so, gradients too."""
    return look_at_vectors(symbol, inputs, given(inputs, "x", "positions", "base"), (0,))


def canonical(observation: Observation, case: Case) -> Observation:
    """In single precision, with words about how far the pairs turn beside it."""
    seen = in_single_precision(observation, case)
    told = {name: case.inputs[name] for name in ("x", "positions", "base") if name in case.inputs}
    return in_words(seen, of_rotation(seen.get("output"), **told), case)


TRIAL = Trial(
    module="transformer_course.positions",
    points=3,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called=CALLED,
    aspects=(
        shape(),
        replace(values(), keys=(TURN, "output")),
        gradients(),
        ELSEWHERE,
        BASE,
        SMALLEST,
        *ANY_NUMBERS,
        untouched(),
    ),
)
