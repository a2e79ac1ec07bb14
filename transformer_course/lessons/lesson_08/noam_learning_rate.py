"""`noam_learning_rate`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import of_function, special, values
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.refusing import CALLED, refusal, refused
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

FIRST = special("the first step", meaning="Steps count from 1, and the first one has its rate.")
BEFORE, BY_ITS_NAME = refused("a step before the first is refused", weight=0.5)
PEAK = special("at the peak and just after it", meaning="The rate is highest at step warmup_steps.")


@usually_in_words
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
    inputs, in_words = without_the_wish(inputs)
    if inputs["step"] < 1:
        return refusal(symbol, *inputs.values())
    rising = inputs["step"] <= inputs["warmup_steps"]
    words = {"curve": first_said(lambda: _way_up(symbol) if rising else _way_down(symbol))} if in_words else {}
    return words | in_order(symbol, inputs)


def _rates(symbol: Any, *steps: int, d_model: int = 64, warmup_steps: int = 100) -> np.ndarray:
    rates = np.array([asked(lambda step=step: float(symbol(step, d_model, warmup_steps))) for step in steps])
    if not np.isfinite(rates).all() or (rates <= 0).any():
        raise Unwatched
    return rates


def _way_up(symbol: Any) -> str:
    """Whether it is straight, and what the two other numbers do to it."""
    usual = _rates(symbol, 10, 20, 50)
    if rounded := _of_rounding(symbol, 13):
        return rounded
    told = _of_width(symbol, 10)
    if not np.allclose(usual, usual[0] * np.array([1, 2, 5]), rtol=1e-4):
        told.append(
            f"With a warm-up of 100 steps, your rate is {usual[1] / usual[0]:.3g} times as high in step 20 as in step "
            f"10, and {usual[2] / usual[0]:.3g} times in step 50. Which of the two terms holds there, and how does it "
            "grow with the step?"
        )
    (longer,) = _rates(symbol, 10, warmup_steps=400) / usual[0]
    if abs(longer - 0.125) > 1e-4:
        told.append(
            f"With a warm-up four times as long, your rate in step 10 is {longer:.3g} times as high. Which power of "
            "warmup_steps is in the second term?"
        )
    return " ".join(told[:2]) or _of_factor(float(usual[0]) / 0.00125)


def _way_down(symbol: Any) -> str:
    first, last = _rates(symbol, 400, 1600)
    if rounded := _of_rounding(symbol, 777):
        return rounded
    told = _of_width(symbol, 1600)
    if abs(last / first - 0.5) > 1e-4:
        told.append(
            f"Long after the warm-up, your rate is {last / first:.3g} times as high in step 1600 as in step 400. Which "
            "power of the step is in the first term?"
        )
    (longer,) = _rates(symbol, 1600, warmup_steps=400) / last
    if abs(longer - 1) > 1e-4:
        told.append(
            f"Long after the warm-up, your rate is {longer:.3g} times as high if the warm-up was four times as long. "
            "Is warmup_steps in the first term?"
        )
    return " ".join(told[:2]) or _of_factor(float(last) * 8 * 40)


def _of_rounding(symbol: Any, step: int) -> str:
    """The right rate has no end."""
    (rate,) = _rates(symbol, step, d_model=60, warmup_steps=90)
    if abs(rate - round(rate, 6)) > 1e-12:
        return ""
    return f"In step {step}, with d_model = 60 and a warm-up of 90 steps, your rate is exactly {rate:g}. Is it rounded?"


def _of_width(symbol: Any, step: int) -> list[str]:
    (wider,) = _rates(symbol, step, d_model=256) / _rates(symbol, step)
    if abs(wider - 0.5) < 1e-4:
        return []
    times = f"With d_model four times as large, your rate is {wider:.3g} times as high."
    return [f"{times} Which power of d_model is in the formula?"]


def _of_factor(factor: float) -> str:
    if abs(factor - 1) < 1e-4:
        return AS_ASKED
    return f"Your rates are {factor:.4g} times what the formula gives. What do you multiply by besides?"


TRIAL = Trial(
    module="transformer_course.paper.schedule",
    points=1,
    cases=cases,
    probe=probe,
    called=CALLED | {"curve": "the curve of the rates"},
    aspects=(
        *(replace(one, keys=("curve", "output")) if one == values() else one for one in of_function()),
        FIRST,
        PEAK,
        BEFORE,
        BY_ITS_NAME,
    ),
)
