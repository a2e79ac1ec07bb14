"""What a ReLU makes of single numbers, and which gradients it lets back, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked

_NUMBERS = np.array([[-40.0, -3.0, -0.25], [0.25, 3.0, 40.0]])
_FORWARD = "Your forward makes {came:.3g} of {number:g}. What does the docstring make of a {kind} number?"


def of_forward(make: Callable[[], Any]) -> str:
    output = _like(asked(make().forward, _NUMBERS.copy()))
    for number, came, right in zip(_NUMBERS.flat, output.flat, np.maximum(_NUMBERS, 0.0).flat, strict=True):
        if came != right:
            return _FORWARD.format(came=came, number=number, kind="positive" if number > 0 else "negative")
    return AS_ASKED


def of_backward(make: Callable[[], Any]) -> str:
    """Of gradients of both signs."""
    shares = {}
    for sign in (1.0, -1.0):
        layer = make()
        asked(layer.forward, _NUMBERS.copy())
        shares[sign] = _like(asked(layer.backward, np.full_like(_NUMBERS, 10 * sign))) / (10 * sign)
    for number, up, down in zip(_NUMBERS.flat, shares[1.0].flat, shares[-1.0].flat, strict=True):
        right = float(number > 0)
        if up == right != down or down == right != up:
            which = "negative" if up == right else "positive"
            return (
                f"Where the input was {number:g}, a {which} gradient of the output isn't treated as the other sign is. "
                "Which numbers decide what comes back: the gradients, or the inputs?"
            )
        if up != right:
            return (
                f"Where the input was {number:g}, you send back {up:.3g} times the gradient. By how much did the "
                "output of forward grow with it there?"
            )
    return AS_ASKED


def _like(came: Any) -> np.ndarray:
    if not isinstance(came, np.ndarray) or came.shape != _NUMBERS.shape or came.dtype != np.float64:
        raise Unwatched
    return came
