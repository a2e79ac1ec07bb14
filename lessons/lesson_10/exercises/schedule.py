"""`warmup_schedule`: cases, mistakes and variants."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from course.training_well.schedule import warmup_schedule
from grader.authoring.aspects import USUAL, special, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake


def _steps(generator: np.random.Generator) -> list[Case]:
    warmup = int(generator.integers(20, 40))
    total = int(generator.integers(150, 250))
    peak = float(generator.uniform(0.002, 0.009))

    def case(label: str, tag: str, step: int) -> Case:
        tags = [tag] if tag else []
        return Case.of(label, *tags, step=step, warmup_steps=warmup, total_steps=total, peak=peak)

    return [
        case("a quarter of the way up", "", warmup // 4),
        case("in the middle of the warm-up", "", warmup // 2),
        case("a quarter of the way down", "", warmup + (total - warmup) // 4),
        case("long after the warm-up", "", warmup + 3 * (total - warmup) // 4),
        case("at the first step", "first", 1),
        case("at the peak", "peak", warmup),
        case("shortly after the peak", "peak", warmup + 8),
        case("at the last step", "end", total),
        case("long after the last step", "after", 2 * total - warmup // 2),
        case("one step after the last", "after", total + 1),
    ]


def _rate(formula: Callable[[int, int, int, float], float]) -> Callable[[int, int, int, float], float]:
    """A formula of the way down, under the right way up and with the right end."""

    def rate(step: int, warmup_steps: int, total_steps: int, peak: float) -> float:
        if step <= warmup_steps:
            return peak * step / warmup_steps
        return 0.0 if step >= total_steps else formula(step, warmup_steps, total_steps, peak)

    return rate


def _up(formula: Callable[[int, int, float], float]) -> Callable[[int, int, int, float], float]:
    """A formula of the way up, before the right way down."""

    def rate(step: int, warmup_steps: int, total_steps: int, peak: float) -> float:
        if step <= warmup_steps:
            return formula(step, warmup_steps, peak)
        return warmup_schedule(step, warmup_steps, total_steps, peak)

    return rate


def _wave(progress: float, peak: float) -> float:
    return peak * (1 + math.cos(math.pi * progress)) / 2


def _rises_again(step: int, warmup_steps: int, total_steps: int, peak: float) -> float:
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return _wave((step - warmup_steps) / (total_steps - warmup_steps), peak)


WARMUP_SCHEDULE = Exercise(
    symbol="warmup_schedule",
    points=2,
    cases=_steps,
    references=(warmup_schedule,),
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        values(6.0),
        special(
            "the first step", "first", 2.0, meaning="Steps count from 1, and the first rate is peak / warmup_steps."
        ),
        special("at the peak and shortly after it", "peak", 2.0, meaning="The rate is highest at step warmup_steps."),
        special("the last step", "end", meaning="At step total_steps the rate is 0."),
        special("after the last step", "after", 2.0, meaning="After total_steps the rate stays 0."),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "no_warm_up",
            lambda step, warmup_steps, total_steps, peak: (
                0.0 if step >= total_steps else _wave(step / total_steps, peak)
            ),
            "Your rate falls from the first step on. What does it do up to step warmup_steps?",
            central=True,
        ),
        Mistake(
            "no_cosine",
            lambda step, warmup_steps, total_steps, peak: (
                0.0 if step >= total_steps else peak * min(1.0, step / warmup_steps)
            ),
            "After the warm-up your rate stays at the peak until the last step. Which function takes it down to 0?",
            central=True,
        ),
        Mistake(
            "straight_down",
            _rate(lambda step, warmup, total, peak: peak * (total - step) / (total - warmup)),
            "Your rate falls in a straight line. Which curve does the docstring ask for?",
            central=True,
        ),
        Mistake(
            "progress_from_the_first_step",
            _rate(lambda step, warmup, total, peak: _wave(step / total, peak)),
            "Your rate jumps down at the end of the warm-up. Where does progress begin to count?",
            central=True,
        ),
        Mistake(
            "divided_by_all_steps",
            _rate(lambda step, warmup, total, peak: _wave((step - warmup) / total, peak)),
            "Your cosine isn't through when the run ends, so the rate jumps to 0. How many steps does the way "
            "down have?",
            central=True,
        ),
        Mistake(
            "a_whole_wave",
            _rate(lambda step, warmup, total, peak: _wave(2 * (step - warmup) / (total - warmup), peak)),
            "Your rate falls to 0 halfway and rises again. How much of a cosine wave leads from 1 down to -1?",
            central=True,
        ),
        Mistake(
            "a_quarter_wave",
            _rate(lambda step, warmup, total, peak: peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup))),
            "You use a quarter of the cosine wave, from 1 to 0. Which part of it does the formula shift and halve?",
        ),
        Mistake(
            "pi_forgotten",
            _rate(lambda step, warmup, total, peak: peak * (1 + math.cos((step - warmup) / (total - warmup))) / 2),
            "Your rate hardly falls before it jumps to 0. What does the formula multiply progress by inside the "
            "cosine?",
        ),
        Mistake(
            "not_halved",
            _rate(lambda step, warmup, total, peak: 2 * _wave((step - warmup) / (total - warmup), peak)),
            "After the warm-up your rate is twice as high as it should be. How large is 1 + cos at its largest?",
        ),
        Mistake(
            "rises_again",
            _rises_again,
            "After total_steps your rate rises again, as a cosine does. What should it be there?",
        ),
        Mistake(
            "counts_from_zero",
            lambda step, warmup_steps, total_steps, peak: warmup_schedule(step - 1, warmup_steps, total_steps, peak),
            "All your rates are those of the step before, and the first one is 0. Do steps count from 0 or from 1?",
        ),
        Mistake(
            "one_step_ahead",
            lambda step, warmup_steps, total_steps, peak: warmup_schedule(step + 1, warmup_steps, total_steps, peak),
            "All your rates are those of the next step. Do steps count from 0 or from 1?",
        ),
        Mistake(
            "peak_forgotten",
            lambda step, warmup_steps, total_steps, peak: warmup_schedule(step, warmup_steps, total_steps, 1.0),
            "Your rate rises to 1. What should it rise to?",
        ),
        Mistake(
            "a_tensor",
            lambda step, warmup_steps, total_steps, peak: torch.tensor(
                warmup_schedule(step, warmup_steps, total_steps, peak)
            ),
            "The number is right, but it is a tensor. What turns it into a Python float?",
        ),
        Mistake(
            "warm_up_from_zero",
            _up(lambda step, warmup, peak: peak * (step - 1) / warmup),
            "Your first rate is 0, so the first step teaches nothing, and the warm-up ends below the peak. What is the "
            "rate at step 1?",
        ),
    ),
    variants={
        "NumPy": lambda step, warmup_steps, total_steps, peak: (
            np.interp(step, [0, warmup_steps], [0, peak])
            if step <= warmup_steps
            else peak * (1 + np.cos(np.pi * min(1, (step - warmup_steps) / (total_steps - warmup_steps)))) * 0.5
        ),
        "a square of a cosine": _rate(
            lambda step, warmup, total, peak: peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2
        ),
        "clamped progress": lambda step, warmup_steps, total_steps, peak: (
            min(1.0, step / warmup_steps)
            * _wave(min(1.0, max(0.0, (step - warmup_steps) / (total_steps - warmup_steps))), peak)
        ),
    },
)
