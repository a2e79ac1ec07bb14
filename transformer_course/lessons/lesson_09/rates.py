"""What an optimiser does with the simplest gradients, in words: the same at each step, and none after some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked

_RATE = 0.01
_USUAL_RATE = 0.001
_BETAS = np.array([[0.9], [0.999]])
_NAMES = ("first", "second", "third")


def of_rates(symbol: Callable[..., Any]) -> str:
    """With the usual betas and eps."""

    def steps(gradients: list[float], rate: float = _RATE) -> list[float]:
        """How far a single number moves at each step, in learning rates downhill."""
        number = np.zeros(1)
        optimiser, path = asked(symbol, [number], rate), [0.0]
        for gradient in gradients:
            asked(optimiser.step, [np.array([gradient])])
            path.append(float(number[0]))
        return [float(step) for step in -np.diff(path) / _RATE]

    usual, large = steps([1.0] * 6), steps([10.0] * 6)
    if not np.isfinite(usual[0]):
        return "Your first step isn't a number. What is 1 - beta**t for the first t that you divide by?"
    if not any(usual):
        raise Unwatched
    if usual[0] < 0:
        return "Where a gradient is positive, your parameter grows. Which way does a gradient point, and which is down?"
    if not np.allclose(usual, large, rtol=1e-3):
        return (
            "With gradients ten times as large, your steps change too. They should stay at the learning rate: which "
            "power of the gradient is in m, and which in the root of v?"
        )
    if not np.allclose(steps([1.0] * 6, 2 * _RATE), 2 * np.array(usual), rtol=1e-3):
        return "With twice the learning rate, your steps aren't twice as long. Where does it come in?"
    for words, sizes in _corrected_otherwise(len(usual)).items():
        if np.allclose(usual, sizes, rtol=1e-3):
            return (
                f"With the same gradient at each step, your steps have the sizes that they have where {words}. By what "
                "are m and v divided in step number t?"
            )
    for place, step in enumerate(usual, start=1):
        if abs(step - 1) > 1e-3:
            return (
                "With the same gradient at each step, the corrected means are that gradient and its square, so each "
                f"step is the learning rate. Your step number {place} is {step:.3g} times that. What goes into m and v "
                "at each step, and what is each divided by?"
            )
    if steps([1.0, 1.0, 0.0])[-1] == 0:
        return "When a gradient is 0, your parameters stay where they are. What does m still remember?"
    return AS_ASKED


def _corrected_otherwise(steps: int) -> dict[str, np.ndarray]:
    """How long the steps are, in learning rates, where the same gradient comes each time and m or v is corrected by
    something else than 1 - beta ** t."""
    m, v = 1 - _BETAS ** np.arange(1, steps + 1)
    next_m, next_v = 1 - _BETAS ** np.arange(2, steps + 2)
    return {
        "m isn't corrected": m,
        "v isn't corrected": v**-0.5,
        "neither m nor v is corrected": m * v**-0.5,
        "m is corrected with t one too large": m / next_m,
        "v is corrected with t one too large": (next_v / v) ** 0.5,
        "t begins at 2": m / next_m * (next_v / v) ** 0.5,
        "m is corrected as in the first step, always": m / m[0],
        "v is corrected as in the first step, always": (v / v[0]) ** -0.5,
        "v is corrected after its root is taken": v**0.5,
        "m and v are each corrected with the other's beta": m / v * (m / v) ** 0.5,
    }


def of_default(symbol: Callable[..., Any]) -> str:
    """Of a first step for which nobody passes a learning rate in."""

    def moved(*rate: float) -> float:
        number = np.zeros(1)
        symbol([number], *rate).step([np.ones(1)])
        return float(number[0])

    if np.isclose(moved(), moved(_USUAL_RATE), rtol=1e-6, atol=0):
        return AS_ASKED
    return (
        f"Where no learning rate is passed in, your step isn't that of {_USUAL_RATE:g}. Which default is the usual one?"
    )


def of_descent(symbol: Callable[..., Any], several: bool) -> str:
    """Of plain gradient descent, with one step or `several`: each goes by its own gradient, and by nothing else."""

    def steps(gradients: list[float], rate: float = _RATE, start: float = 0.0) -> list[float]:
        number = np.full(1, start)
        optimiser, path = asked(symbol, [number], rate), [start]
        for gradient in gradients:
            asked(optimiser.step, [np.array([gradient])])
            path.append(float(number[0]))
        return [float(step) for step in -np.diff(path)]

    usual = steps([1.0] * (4 if several else 1))
    if not any(usual):
        raise Unwatched
    for place, step in enumerate(usual[1:], start=2):
        if not np.isclose(step, usual[0]):
            return (
                "With the same gradient at each step, all steps are equally long. Your step number "
                f"{place} is {step / usual[0]:.3g} times the first. What have you kept from the steps before it?"
            )
    if not np.allclose(steps([10.0]), 10 * usual[0]):
        times = steps([10.0])[0] / usual[0]
        if np.isclose(steps([0.1])[0], usual[0] / 10):
            return (
                f"Small gradients are followed as they should be, but one of 10 makes a step only {times:.3g} times as "
                "long as one of 1: large gradients are cut off. Does the docstring ask for that?"
            )
        return (
            f"A gradient ten times as large makes your step {times:.3g} times as long, not ten times. What do you do "
            "to the gradient, besides multiplying it by the learning rate?"
        )
    if not np.allclose(steps([1.0], 2 * _RATE), 2 * usual[0]):
        return "With twice the learning rate, your steps aren't twice as long. Where does it come in?"
    if not np.isclose(steps([1.0], start=2.0)[0], usual[0], rtol=1e-6):
        return "Your step depends on where a parameter is. What besides the gradient do you subtract from it?"
    return AS_ASKED


def of_company(symbol: Callable[..., Any], steps: int = 3) -> str:
    """Of three arrays of one size: which of them move, and by which gradients."""

    def path(gradients: list[np.ndarray]) -> list[np.ndarray]:
        numbers = [np.zeros(1) for _ in gradients]
        optimiser, places = asked(symbol, list(numbers), _RATE), []
        for sign in (1.0, -0.5, 1.0)[:steps]:
            asked(optimiser.step, [sign * gradient for gradient in gradients])
            places.append(np.concatenate(numbers))
        return list(np.array(places).T)

    gradients = [np.array([size]) for size in (0.001, 0.1, 10.0)]
    together, alone = path(gradients), [path([gradient])[0] for gradient in gradients]
    if not any(one.any() for one in together):
        raise Unwatched
    for name, one in zip(_NAMES, together, strict=True):
        if not one.any():
            return f"Of three parameters, the {name} never moves. Which of them does your loop reach?"
    for name, one, by_itself in zip(_NAMES, together, alone, strict=True):
        if np.allclose(one, by_itself, rtol=1e-6):
            continue
        others = [other for other, its in zip(_NAMES, alone, strict=True) if np.allclose(one, its)]
        if len(others) == 1:
            return (
                f"Of three parameters, the {name} goes by the gradient of the {others[0]}. In which order do they come?"
            )
        return f"Among others, the {name} parameter goes another way than alone. What does each need for itself?"
    return AS_ASKED
