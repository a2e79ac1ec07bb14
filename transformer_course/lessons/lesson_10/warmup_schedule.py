"""`warmup_schedule`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import special, values
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind
from transformer_course.lessons.watching import AS_ASKED, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

FIRST = special("the first step", weight=2.0, meaning="Steps count from 1, and the first rate is peak / warmup_steps.")
PEAK = special("at the peak and shortly after it", weight=2.0, meaning="The rate is highest at step warmup_steps.")
LAST = special("the last step", meaning="At step total_steps the rate is 0.", keys=("end", "output"))
ONE = special(
    "a warm-up of one step", meaning="With warmup_steps=1, step 1 is at the peak, and the rate falls from there."
)
AFTER = special(
    "after the last step", weight=2.0, meaning="After total_steps the rate stays 0.", keys=("end", "output")
)


@usually_in_words
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
    inputs, in_words = without_the_wish(inputs)
    rising = inputs["step"] <= inputs["warmup_steps"]
    words = {"curve": first_said(lambda: _way_up(symbol) if rising else _way_down(symbol))} if in_words else {}
    if inputs["step"] >= inputs["total_steps"]:
        end = _at_the_end if inputs["step"] == inputs["total_steps"] else _afterwards
        words["end"] = first_said(lambda: end(symbol))
    return {**words, **number_and_kind(symbol(*inputs.values()))}


def _at_the_end(symbol: Any) -> str:
    last, after = _rates(symbol, 100, 190)
    if abs(last) < 1e-6:
        return AS_ASKED
    stays = ", and stays there" if np.isclose(last, after) else ""
    return f"{RUN} is {last:.3g} in step 100, the last one{stays}. To which number should it fall?"


def _afterwards(symbol: Any) -> str:
    last, *after = _rates(symbol, 100, 101, 190)
    if np.abs(after).max() < 1e-6:
        return AS_ASKED
    if np.allclose(after, last):
        return f"{RUN} is {last:.3g} in step 100, the last one, and stays there. To which number should it fall?"
    return (
        f"{RUN} is {after[0]:.3g} in step 101, and {after[1]:.3g} in step 190. What should it be after the last step?"
    )


RUN = "With a peak of 0.8, 20 steps of warm-up and 100 in all, your rate"


def _rates(symbol: Any, *steps: int) -> np.ndarray:
    """Those of such a run."""
    return np.array([asked(lambda step=step: float(symbol(step, 20, 100, 0.8))) for step in steps])


def _way_up(symbol: Any) -> str:
    quarter, half = rates = _rates(symbol, 5, 10)
    if np.allclose(rates, [0.2, 0.4]):
        return AS_ASKED
    if 0 < quarter < half < 0.8:
        power = float(np.log(half / 0.8) / np.log(0.5))
        if np.allclose(quarter, 0.8 * 0.25**power):
            return f"Your rate rises along (step / warmup_steps) ** {power:.3g}. Which power is a straight line?"
    return (
        f"{RUN} is {quarter:.3g} at step 5 and {half:.3g} at step 10, a quarter and half of the way up. How much of "
        "the peak should it be there?"
    )


def _way_down(symbol: Any) -> str:
    """Of the rates a quarter, half and three quarters of the way down, whether they end above 0, or take other ways."""
    rates = _rates(symbol, 40, 60, 80)
    wave = np.array([0.853553, 0.5, 0.146447])
    if np.allclose(rates, 0.8 * wave):
        return AS_ASKED
    lowest = (rates - 0.8 * wave) / (1 - wave)
    if 0 < lowest[0] < 0.4 and np.allclose(lowest, lowest[0], rtol=1e-3):
        return f"{RUN} falls along half a cosine wave, but to {lowest[0]:.3g}. To which number should it fall?"
    if lowest[0] < 0 and np.allclose(rates, rates[0] / wave[0] * wave, rtol=1e-3):
        return f"{RUN} falls as it should, but from {rates[0] / wave[0]:.3g}. From which number should it fall?"
    if bool((np.abs(rates - 0.4) < 0.4).all()):
        progress = np.arccos(rates / 0.4 - 1) / np.pi
        power = float(np.log(progress[1]) / np.log(0.5))
        if np.allclose(progress, np.array([0.25, 0.5, 0.75]) ** power, atol=1e-4):
            return (
                f"Your rate falls along a cosine, but with a progress of {progress[1]:.3g} halfway down, which is 1/2 "
                f"to the power of {power:.3g}. How fast should progress grow?"
            )
    shape = (
        "falls, but along another curve than half a cosine wave"
        if 0.8 >= rates[0] > rates[1] > rates[2]
        else ("doesn't fall along half a cosine wave")
    )
    return (
        f"{RUN} {shape}: it is {rates[0]:.3g}, {rates[1]:.3g} and {rates[2]:.3g} at steps 40, 60 and 80, a quarter, "
        "half and three quarters of the way down. How much of the peak should be left halfway?"
    )


TRIAL = Trial(
    module="transformer_course.training_well.schedule",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "curve": "the curve of the rates",
        "end": "the end of the rates",
        "output": "the rate",
        "kind": "what is returned",
    },
    aspects=(
        A_FLOAT,
        replace(values(6.0), keys=("curve", "output")),
        FIRST,
        PEAK,
        LAST,
        AFTER,
        ONE,
    ),
)
