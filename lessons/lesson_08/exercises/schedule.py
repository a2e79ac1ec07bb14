"""`noam_learning_rate` and `NoamSchedule`: cases, mistakes and variants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.paper.schedule import NoamSchedule, noam_learning_rate
from grader.authoring.aspects import USUAL, main, of_function, special, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged


def _steps(generator: np.random.Generator) -> list[Case]:
    warmup = int(generator.integers(40, 90))
    d_model = int(generator.choice([24, 48, 96]))

    def case(label: str, tag: str, step: int, width: int = d_model) -> Case:
        return Case.of(label, *([tag] if tag else []), step=step, d_model=width, warmup_steps=warmup)

    return [
        case("in the middle of the warm-up", "", warmup // 2),
        case("long after the warm-up", "", 9 * warmup + 5),
        case("with a wide model", "", warmup // 3, 1024),
        case("at the first step", "first", 1),
        case("at the peak", "peak", warmup),
        case("just after the peak", "peak", warmup + 1),
    ]


def _rate(formula: Callable[[float, float, float], float]) -> Callable[[int, int, int], float]:
    return lambda step, d_model, warmup_steps: float(formula(step, d_model, warmup_steps))


NOAM_RATE = Exercise(
    symbol="noam_learning_rate",
    points=1,
    cases=_steps,
    references=(noam_learning_rate,),
    aspects=(
        *of_function(),
        special("the first step", "first", meaning="Steps count from 1, and the first one has its rate."),
        special("at the peak and just after it", "peak", meaning="The rate is highest at step warmup_steps."),
    ),
    mistakes=(
        Mistake(
            "larger_of_the_two",
            _rate(lambda step, d, warmup: d**-0.5 * max(step**-0.5, step * warmup**-1.5)),
            "You take the larger of the two terms, so the rate is highest at the beginning and grows without end. "
            "Which one does the formula take?",
            central=True,
        ),
        Mistake(
            "no_warm_up",
            _rate(lambda step, d, warmup: d**-0.5 * step**-0.5),
            "Your rate only falls. Which term makes it rise at first?",
            central=True,
        ),
        Mistake(
            "never_falls",
            _rate(lambda step, d, warmup: d**-0.5 * step * warmup**-1.5),
            "Your rate only rises. Which term makes it fall after the warm-up?",
            central=True,
        ),
        Mistake(
            "stays_at_the_peak",
            _rate(lambda step, d, warmup: d**-0.5 * min(warmup**-0.5, step * warmup**-1.5)),
            "After the warm-up your rate stays where it is. Whose square root is in the first term?",
            central=True,
        ),
        Mistake(
            "width_forgotten",
            _rate(lambda step, d, warmup: min(step**-0.5, step * warmup**-1.5)),
            "The shape is right, but d_model plays no part. What is the first factor?",
        ),
        Mistake(
            "multiplied_by_the_root_of_the_width",
            _rate(lambda step, d, warmup: d**0.5 * min(step**-0.5, step * warmup**-1.5)),
            "Your rate is higher for wider models. Look at the sign of the exponent of d_model: what should it be?",
        ),
        Mistake(
            "divided_by_the_width",
            _rate(lambda step, d, warmup: min(step**-0.5, step * warmup**-1.5) / d),
            "You divide by d_model itself. Which power of it is in the formula?",
        ),
        Mistake(
            "another_power_of_the_warm_up",
            _rate(lambda step, d, warmup: d**-0.5 * min(step**-0.5, step * warmup**-0.5)),
            "Your two terms never meet at the end of the warm-up. Which power makes them equal at step = warmup_steps?",
        ),
        Mistake(
            "counts_from_zero",
            _rate(lambda step, d, warmup: d**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)),
            "Your rate is that of the next step. Do steps count from 0 or from 1?",
        ),
        Mistake(
            "decays_with_the_step",
            _rate(lambda step, d, warmup: d**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)),
            "After the warm-up your rate falls as 1 / step. What does the formula take of the step?",
        ),
        Mistake(
            "linear_warm_up_to_one",
            _rate(lambda step, d, warmup: min(1.0, step / warmup)),
            "Your rate rises to 1 and stays there. The formula has no 1 in it: what comes after the min?",
        ),
        Mistake(
            "a_tensor",
            lambda step, d_model, warmup_steps: torch.tensor(noam_learning_rate(step, d_model, warmup_steps)),
            "The number is right, but it is a tensor. What turns it into a Python float?",
        ),
    ),
    variants={
        "two cases": lambda step, d_model, warmup_steps: (
            step / (warmup_steps * math.sqrt(d_model * warmup_steps))
            if step < warmup_steps
            else 1 / math.sqrt(d_model * step)
        ),
        "roots": _rate(lambda step, d, warmup: min(1 / math.sqrt(step), step / warmup**1.5) / math.sqrt(d)),
        "peak times shape": _rate(
            lambda step, d, warmup: (d * warmup) ** -0.5 * min(math.sqrt(warmup / step), step / warmup)
        ),
        "NumPy": _rate(lambda step, d, warmup: np.power(d, -0.5) * np.minimum(step**-0.5, step * warmup**-1.5)),
    },
)


def _schedules(generator: np.random.Generator) -> list[Case]:
    def draw(steps: int, groups: int = 1, **others: int) -> dict[str, Any]:
        sizes = {"d_model": int(generator.choice([24, 48, 96])), "warmup_steps": int(generator.integers(4, 7))}
        return {**sizes, **others, "steps": steps, "groups": groups}

    return [
        Case("over the warm-up and beyond", draw(12), USUAL),
        Case("after a single step", draw(1), tagged("first")),
        Case("with two groups of parameters", draw(7, groups=2), tagged("groups")),
    ]


class _Noam:
    """The right schedule; mistakes change one thing about it."""

    start = 0

    def __init__(self, optimizer: torch.optim.Optimizer, d_model: int, warmup_steps: int) -> None:
        self.optimizer, self.d_model, self.warmup_steps = optimizer, d_model, warmup_steps
        self.count = self.start

    def rate(self) -> float:
        return noam_learning_rate(self.count, self.d_model, self.warmup_steps)

    def set(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def step(self) -> None:
        self.count += 1
        self.set(self.rate())


def _but(**changes: Any) -> type[_Noam]:
    return type("NoamSchedule", (_Noam,), changes)


def _first_group(self: Any, rate: float) -> None:
    self.optimizer.param_groups[0]["lr"] = rate


def _late(self: Any) -> None:
    self.set(noam_learning_rate(max(self.count, 1), self.d_model, self.warmup_steps))
    self.count += 1


def _steps_the_optimizer_too(self: Any) -> None:
    _Noam.step(self)
    for group in self.optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    self.optimizer.step()


def _multiplied(self: Any, rate: float) -> None:
    for group in self.optimizer.param_groups:
        group["lr"] = group["lr"] * rate


class _Endless:
    """An endless row of rates, of which each step takes the next."""

    def __init__(self, optimizer: torch.optim.Optimizer, d_model: int, warmup_steps: int) -> None:
        self.groups = optimizer.param_groups
        self.rates = (noam_learning_rate(n, d_model, warmup_steps) for n in itertools.count(1))

    def step(self) -> None:
        rate = next(self.rates)
        for group in self.groups:
            group.update(lr=rate)


NOAM_SCHEDULE = Exercise(
    symbol="NoamSchedule",
    points=1,
    cases=_schedules,
    references=(NoamSchedule,),
    aspects=(
        main("the rate of each step", meaning="After the n-th call of step(), the optimiser has the rate of step n."),
        Aspect(
            "the first step",
            tags=tagged("first"),
            meaning="After the first call the rate is that of step 1.",
        ),
        Aspect(
            "every group of parameters",
            tags=tagged("groups"),
            meaning="An optimiser may have several groups of parameters, and each has a rate of its own to set.",
        ),
        untouched(
            "sets the rate and nothing else", meaning="step() changes no parameter: that is the optimiser's work."
        ),
    ),
    mistakes=(
        Mistake(
            "never_set",
            _but(set=lambda self, rate: None),
            "The optimiser's rate never changes. You compute the right one, but where do you put it?",
            central=True,
        ),
        Mistake(
            "one_step_late",
            _but(step=_late),
            "The rate of the first step is used twice, and all others come one step late. Do you count before you set "
            "the rate, or after?",
            central=True,
        ),
        Mistake(
            "one_step_ahead",
            _but(start=1),
            "Every rate is that of the next step. What number does your count begin with?",
            central=True,
        ),
        Mistake(
            "never_counts",
            _but(step=lambda self: self.set(noam_learning_rate(1, self.d_model, self.warmup_steps))),
            "The rate stays that of the first step. What has to grow with each call?",
            central=True,
        ),
        Mistake(
            "first_group_only",
            _but(set=_first_group),
            "Only the first group of parameters gets the new rate. What does `param_groups` hold?",
        ),
        Mistake(
            "multiplied_onto_the_old_rate",
            _but(set=_multiplied),
            "You multiply the old rate by the new one. Does the formula know the old rate?",
            central=True,
        ),
        Mistake(
            "steps_the_optimizer_too",
            _but(step=_steps_the_optimizer_too),
            "The rates are right, but step() also takes a step of the optimiser. Who else will call that?",
        ),
    ),
    variants={
        "a class of its own": _Noam,
        "rates made as they are needed": _Endless,
        "with a formula inside": _but(
            rate=lambda self: self.d_model**-0.5 * min(self.count**-0.5, self.count * self.warmup_steps**-1.5)
        ),
    },
)
