"""What an Adam does with the simplest gradients, in words: the same at each step, and none after some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.lessons.lesson_09.wiring import AS_ASKED, Unwatched, asked

_RATE = 0.01


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
    if not np.allclose(usual, large, rtol=1e-3):
        return (
            "With gradients ten times as large, your steps change too. They should stay at the learning rate: which "
            "power of the gradient is in m, and which in the root of v?"
        )
    if not np.allclose(steps([1.0] * 6, 2 * _RATE), 2 * np.array(usual), rtol=1e-3):
        return "With twice the learning rate, your steps aren't twice as long. Where does it come in?"
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
