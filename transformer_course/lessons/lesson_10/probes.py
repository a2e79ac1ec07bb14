"""What several exercises' probes share, and how `can_overfit` is called: `can_overfit.py` knows the patients, and so
must not travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import KNOWN
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.spec import Aspect
from transformer_course.lessons.watching import AS_ASKED, Unwatched, first_said

MOST_CALLS = 1000
"""Of train_step, by a test that asks for 300 steps."""

A_FLOAT = Aspect("a Python float", ("kind",), KNOWN, 1.5, meaning="The result is a plain Python number.")
"""Looks at the `kind` of `number_and_kind`: a tensor with the right number in it costs this much, and no more."""


def number_and_kind(output: Any) -> dict[str, Any]:
    """What came back as a number, under `output`, and what it came in, under `kind`."""
    if isinstance(output, torch.Tensor) and output.numel() == 1:
        return {"output": float(output.item()), "kind": "a tensor"}
    if isinstance(output, np.ndarray) and output.size == 1:
        return {"output": float(output.item()), "kind": "a NumPy array"}
    number = isinstance(output, int | float | np.number) and not isinstance(output, bool)
    return {"output": float(output) if number else output, "kind": "a Python float" if number else _kind(output)}


def _kind(output: Any) -> str:
    return "nothing" if output is None else f"an object of type {type(output).__name__}"


def _can_overfit(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if "patient" not in inputs:
        return {"goes_by": first_said(lambda: _goes_by(symbol))}
    ask, calls = inputs["patient"], [0]
    to_come: dict[int, list[float]] = {}  # the losses of a model's next steps

    def train_step(model: Any, batch: Any) -> float:
        if not isinstance(model, int):
            raise TypeError("train_step needs a model that make_model() has returned")
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise TypeError("train_step needs the batch as it was handed in, in one piece")
        calls[0] += 1
        if calls[0] > MOST_CALLS:
            raise RuntimeError(f"train_step has been called {MOST_CALLS:,} times, and the test hasn't ended yet")
        losses = to_come.setdefault(model, [])
        if not losses:
            losses.extend(ask("steps", model, *batch))
        return float(losses.pop(0))

    train_step.__qualname__ = train_step.__name__  # Python names it so where an answer hands it too much
    return {"output": symbol(lambda: ask("make"), train_step, (inputs["inputs"], inputs["targets"]))}


STEPS = 300
LOW, HIGH = 0.01, 1.0


class _Run:
    """A run whose losses are known beforehand, by the number of the step, and what a test makes of it."""

    def __init__(self, symbol: Any, loss_at: Callable[[int], float]) -> None:
        self.taken: list[int] = []
        """By each model that was made."""
        try:
            answer = symbol(self._make, lambda model, batch: self._step(model, loss_at), ("inputs", "targets"))
        except NotImplementedError:  # a blank answer
            raise
        except Exception as error:
            raise Unwatched from error
        if not isinstance(answer, bool | np.bool_) or not sum(self.taken):
            raise Unwatched
        self.passed = bool(answer)

    def _make(self) -> list[int]:
        self.taken.append(0)
        return [len(self.taken) - 1]

    def _step(self, model: list[int], loss_at: Callable[[int], float]) -> float:
        (place,) = model
        self.taken[place] += 1
        if self.taken[place] > MOST_CALLS:
            raise Unwatched
        return loss_at(self.taken[place])


def _goes_by(symbol: Any) -> str:
    """What a test's answer hangs on, other than one model's loss after 300 steps: as much as two sentences of it."""

    def constant(loss: float) -> _Run:
        return _Run(symbol, lambda _: loss)

    def in_the_end(before: float, last: float) -> _Run:
        """The loss after 300 steps may be looked at in the next one, which begins with it."""
        return _Run(symbol, lambda step: before if step < STEPS - 1 else last)

    high, low = constant(HIGH), constant(LOW)
    told = []
    if len(high.taken) > 1:
        each = ", a new one for each step" if set(high.taken) == {1} else ""
        told.append(f"You make {len(high.taken)} models{each}. How many does the docstring train?")
    elif (steps := sum(high.taken)) not in (STEPS, STEPS + 1):
        told.append(f"With a loss that stays at {HIGH:g}, you train for {steps} steps. How many does training get?")
    if high.passed == low.passed:
        told.append(
            f"You say {high.passed}, whether the loss stays at {HIGH:g} or at {LOW:g}. Which one is low enough?"
        )
    elif high.passed:
        told.append(
            f"You say True where the loss stays at {HIGH:g}, and False where it stays at {LOW:g}. Which of the two "
            "runs has learnt the batch?"
        )
    else:
        passing = next((loss for loss in (0.5, 0.2, 0.11, 0.07, 0.0505, 0.05) if constant(loss).passed), None)
        failing = next((loss for loss in (-1.0, 0.02, 0.0495) if not constant(loss).passed), None)
        if passing is not None:
            told.append(f"A loss that stays at {passing:g} passes. Which bound does the docstring give?")
        if failing is not None:
            told.append(f"A loss that stays at {failing:g} doesn't pass. Is it below the docstring's bound?")
        if sum(high.taken) in (STEPS, STEPS + 1):
            if in_the_end(LOW, HIGH).passed:
                told.append(
                    f"A run passes whose loss is {LOW:g} for a long time, and {HIGH:g} in the end. Which loss counts?"
                )
            if not in_the_end(HIGH, LOW).passed:
                told.append(
                    f"A run doesn't pass whose loss is {HIGH:g} for a long time, and {LOW:g} in the end. Which loss "
                    "counts?"
                )
    return " ".join(told[:2]) or AS_ASKED


PROBES: dict[str, Probe] = {"can_overfit": _can_overfit}
