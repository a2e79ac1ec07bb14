"""`EarlyStopping`: how it is tried."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import aspects
from cellcheck.authoring.aspects import main, untouched
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, Trial
from transformer_course.lessons.watching import AS_ASKED


def special(name: str, meaning: str, weight: float = 1.0) -> Aspect:
    return aspects.special(name, "", weight, meaning, ("output", "restored"))


IN_A_ROW = special("a better loss starts the count again", "Only failures in a row count.", 2.0)
EQUAL = special("losses that don't change", "A loss as good as the best doesn't beat it.")
PATIENCE_OF_ONE = special("a patience of one", "With patience=1, the first failure stops.")
MIN_DELTA = special("min_delta", "A loss must beat the best by more than min_delta.", 2.0)
DEFAULT = special("no min_delta", "Without min_delta, a loss that is better by ever so little is better.")
NAN = special("a loss that is NaN", "NaN beats nothing.")
EXACT = special("a loss that is better by exactly min_delta", "Better by exactly min_delta is not by more than it.")
TWO = special("two of them at once", "What one EarlyStopping remembers has no effect on another.", 2.0)
ZERO = special("a loss of 0", "A loss of exactly 0 is a loss like any other: only a lower one beats it.")
LARGE = special("a large first loss", "The first loss is the best so far, however large.")


def cases(generator: np.random.Generator) -> list[Case]:
    start = float(generator.uniform(2.0, 3.0))

    def case(label: str, *about: Aspect, falls: tuple[float, ...], patience: int = 3, **others: float) -> Case:
        losses = [round(start + fall, 6) for fall in falls]
        return Case.of(label, *about, losses=losses, patience=patience, **others)

    return [
        case("with losses that fall and then rise", falls=(0, -0.5, -0.9, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2)),
        case("with losses that go up and down", falls=(0, -0.4, -0.1, -0.2, -0.6, -0.3, -0.5, -0.4, -0.2)),
        case(
            "with a better loss just in time",
            IN_A_ROW,
            falls=(0, 0.2, 0.1, -0.3, -0.1, -0.2, -0.5, 0, -0.1, 0.1),
        ),
        case("with losses that don't change", EQUAL, falls=(0, -0.4, -0.4, -0.4, -0.4)),
        case("with a patience of one", PATIENCE_OF_ONE, falls=(0, -0.3, -0.2, -0.4), patience=1),
        case(
            "with losses that creep down",
            MIN_DELTA,
            falls=(0, -0.04, -0.08, -0.09, -0.3, -0.33, -0.36, -0.39),
            min_delta=0.1,
        ),
        case(
            "with losses that creep down for long",
            MIN_DELTA,
            falls=(0, -0.07, -0.14, -0.21, -0.28, -0.35),
            min_delta=0.1,
            patience=2,
        ),
        case("with losses that get better by very little", DEFAULT, falls=(0, -2e-5, -4e-5, -6e-5, -8e-5, -1e-4)),
        case("with losses a little above the best", MIN_DELTA, falls=(0, -0.3, -0.25, -0.28, -0.22), min_delta=0.1),
        Case.of(
            "with losses that are better by exactly min_delta",
            EXACT,
            losses=[4.0, 3.5, 3.0, 2.25],  # powers of two: no rounding
            patience=2,
            min_delta=1.0,
        ),
        case("with two of them at once", TWO, falls=(0, -0.4, -0.2, -0.1, -0.6, -0.5), another=1),
        case("with a loss that is NaN", NAN, falls=(0, -0.2, math.nan, math.nan, math.nan)),
        case("with one loss that is NaN among others", NAN, falls=(0, -0.2, 0, math.nan, 0, 0.1)),
        Case.of("with a loss of exactly 0", ZERO, losses=[0.5, 0.0, 0.25, 0.125, 0.375], patience=3),
        case("with a first loss above all others", LARGE, falls=(40, 39, 40, 41)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A model whose weights are the number of the step; the answers, what is left, and the weights that come back."""
    options = {name: inputs[name] for name in ("min_delta",) if name in inputs}
    stopping, model = symbol(inputs["patience"], **options), nn.Linear(2, 1)
    answers, left = [], []
    for step, loss in enumerate(inputs["losses"]):
        _fill(model, float(step))
        model.train(step % 2 == 0)
        answers.append(bool(stopping.step(loss, model)))
        weights = [parameter.detach().clone() for parameter in model.parameters()]
        trained = [parameter.requires_grad for parameter in model.parameters()]
        left.append({"weights": weights, "trained": trained, "training": model.training})
    if inputs.get("another"):
        elsewhere = nn.Linear(2, 1)
        _fill(elsewhere, -3.0)
        symbol(inputs["patience"], **options).step(-100.0, elsewhere)
        answers.append(bool(stopping.step(max(inputs["losses"]), model)))
    _fill(model, -5.0)
    restored, other = [], nn.Linear(2, 1)
    for one in (model, other):  # what training does after a restore changes nothing about the next one
        _fill(other, -7.0)
        stopping.restore(one)
        restored.append([parameter.detach().clone() for parameter in one.parameters()])
        _fill(model, -9.0)
    return {"output": answers, "restored": restored, "arguments": left}


def canonical(observation: Observation, case: Case) -> Observation:
    """In a usual case, also which step's weights came back, in words: they are the number of the step."""
    if not case.tags >= USUAL or "restored" not in observation:
        return observation
    losses = case.inputs["losses"]
    return {"came_back": _came_back(observation["restored"], losses), **observation}


def _came_back(restored: Any, losses: Sequence[float]) -> str:
    """Whose weights came back, by the numbers in them."""
    first, second = ({float(number) for part in one for number in part.flatten()} for one in restored)
    best = float(losses.index(min(losses)))
    if first == {best}:
        if second == {best}:
            return AS_ASKED
        return "When restore is called for the second time, the best weights don't come back. Where are they kept?"
    if first == {-5.0}:
        return "After restore, the model has the weights that it had before. What puts the saved ones into it?"
    if len(first) > 1:
        return "restore brings some of the weights back, and others not. Which of them belong to the model?"
    (number,) = first
    if not 0 <= number < len(losses):
        return AS_ASKED
    return (
        f"The best loss, {losses[int(best)]:g}, was number {int(best) + 1}, and restore brings back the weights of "
        f"number {int(number) + 1}. When do you save them?"
    )


def _fill(model: nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)


TRIAL = Trial(
    module="transformer_course.training_well.stopping",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "came_back": "whose weights restore brings back",
        "output": "what step returns, loss by loss",
        "restored": "the weights after restore",
    },
    aspects=(
        main("when to stop", 4.0, meaning="step returns True after `patience` losses in a row without a better one."),
        main(
            "the best weights come back", 4.0, ("came_back", "restored"), "restore loads the weights of the best loss."
        ),
        IN_A_ROW,
        EQUAL,
        PATIENCE_OF_ONE,
        MIN_DELTA,
        EXACT,
        DEFAULT,
        TWO,
        NAN,
        ZERO,
        LARGE,
        untouched("the model is left alone", meaning="step changes nothing in the model."),
    ),
)
