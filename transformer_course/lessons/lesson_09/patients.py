"""Functions that return a value and a gradient, right ones and wrong ones: what `gradient_check` is tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cellcheck.authoring.patients import Patient

Pair = tuple[float, np.ndarray]
FINE = "below 0.00001"


def _one_entry_wrong(place: int) -> Callable[[np.ndarray, np.ndarray], Pair]:
    def f(x: np.ndarray, c: np.ndarray) -> Pair:
        gradient = 2 * c * x
        gradient.flat[place] += 0.1  # a tenth of it or less: a mean over all entries hides it, and so does a square
        return float((c * x**2).sum()), gradient

    return f


def _hardly_wrong(x: np.ndarray, c: np.ndarray) -> Pair:
    gradient = 2 * c * x
    gradient.flat[1] *= 1.0001
    return float((c * x**2).sum()), gradient


def _cancelling(along: int) -> Callable[[np.ndarray, np.ndarray], Pair]:
    """Two entries that are neighbours along an axis are wrong, one as much too large as the other is too small."""

    def f(x: np.ndarray, c: np.ndarray) -> Pair:
        wrong = np.zeros_like(x)
        wrong[0, 0], wrong[(1, 0) if along == 0 else (0, 1)] = 1.0, -1.0
        return float((c * x**2).sum()), 2 * c * x + wrong

    return f


def _shallow(x: np.ndarray, c: np.ndarray) -> Pair:
    """Slopes of 0.02 that change with *every* entry, with a curvature of 2: close to the bottom of a valley."""
    apart = float((x - start(c)).sum()) + 0.01
    return apart**2, np.full_like(x, 2 * apart)


def _rounded(x: np.ndarray, c: np.ndarray) -> Pair:
    """Nothing changes the value, about 6, but its last digit flickers: what rounding does."""
    return 6.0 + 8.9e-16 * int((x > start(c)).sum()), np.zeros_like(x)


def _unequal(x: np.ndarray, c: np.ndarray) -> Pair:
    """A steep entry, and others whose small slopes are claimed five times too large."""
    weights = np.full_like(x, 0.001)
    weights.flat[0] = 1000.0
    claimed = weights * 5
    claimed.flat[0] = 1000.0
    return float((weights * x).sum()), claimed


def start(c: np.ndarray) -> np.ndarray:
    """Where a function with these constants is looked at: all entries are positive, so nothing cancels by chance."""
    return c * 0.8


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _softmax_right(x: np.ndarray, c: np.ndarray) -> Pair:
    w = _softmax(x)
    return float((w * c**2).sum()), w * (c**2 - (w * c**2).sum(axis=-1, keepdims=True))


FUNCTIONS: dict[str, Callable[[np.ndarray, np.ndarray], Pair]] = {
    "squares": lambda x, c: (float((c * x**2).sum()), 2 * c * x),
    "sines": lambda x, c: (float((c * np.sin(x)).sum()), c * np.cos(x)),
    "softmax": _softmax_right,
    "exponentials": lambda x, c: (float((c * np.exp(3 * x - 3)).sum()), 3 * c * np.exp(3 * x - 3)),
    "unused": lambda x, c: (float((x[..., 1:] ** 2).sum()), 2 * x * (np.arange(x.shape[-1]) > 0)),
    "tiny": lambda x, c: (1e-4 * float((c * x**2).sum()), 2e-4 * c * x),
    "huge": lambda x, c: (1e6 * float((c * x**2).sum()), 2e6 * c * x),
    "shallow": _shallow,
    "rounded": _rounded,
    "unequal": _unequal,
    "twice": lambda x, c: (float((c * x**2).sum()), 4 * c * x),
    "negated": lambda x, c: (float((c * x**2).sum()), -2 * c * x),
    "no jacobian": lambda x, c: (float((_softmax(x) * c**2).sum()), _softmax(x) * c**2),
    "first": _one_entry_wrong(0),
    "last": _one_entry_wrong(-1),
    "hardly": _hardly_wrong,
    "cancelling down": _cancelling(0),
    "cancelling along": _cancelling(1),
    "tiny and wrong": lambda x, c: (4e-6 * float((c * x**2).sum()), 12e-6 * c * x),
    "zero": lambda x, c: (float((c * x**2).sum()), 0 * x),
    "flat": lambda x, c: (float((x[..., 1:] ** 2).sum()), 2 * x),
}


_FAR = 2e-3
"""Nobody measures a slope at points that are farther away, and slopes change on the way there."""


class _Points:
    """Where a function is asked about, seen from where it is to be looked at."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x
        self.several = False
        self.steps: dict[int, set[float]] = {}
        """How far each entry has been moved, rounded."""

    def ask(self, x: np.ndarray) -> None:
        steps = x - self.x
        moved = np.flatnonzero(np.abs(steps) > 0.01 * np.abs(steps).max())  # a float32 copy rounds all the others
        self.several |= len(moved) > 1 and float(np.abs(steps).max()) < _FAR
        for place in moved:
            known = self.steps.setdefault(int(place), set())
            if len(known) < 20:
                known.add(float(f"{steps.flat[place]:.1e}"))

    def in_words(self) -> str:
        """What stands out about the points; the word for a right gradient's error where nothing does."""
        if self.several or not self.steps:
            return f"You ask for f {'with several entries moved at once' if self.several else 'at x alone'}."
        sizes = [abs(step) for steps in self.steps.values() for step in steps]
        up = {step > 0 for steps in self.steps.values() for step in steps}
        if len(up) == 1:
            where, other = ("above", "below") if up == {True} else ("below", "above")
            return f"You ask for f {where} x alone, and never {other} it. Where slopes change fast, what would that do?"
        if any({-step for step in steps} != steps for steps in self.steps.values()):
            return "Your points aren't as far below x as above it. Where slopes change fast, what would that do?"
        if min(sizes) < 1e-7:
            return f"You move x by only {min(sizes):g}, so rounding shows. Which h did the plot recommend?"
        if max(sizes) > _FAR:
            return f"You move x by {max(sizes):g}, and slopes change on the way. Which h did the plot recommend?"
        return FINE


def function(name: str, numbers: tuple[float, ...], shape: tuple[int, ...]) -> Patient:
    """The function of that name, with these constants: x in, (value, gradient) out."""
    c = np.array(numbers).reshape(shape)
    points = _Points(start(c))

    def way(x: Any) -> tuple[float, np.ndarray]:
        if np.shape(x) != shape:
            raise ValueError(f"x should be {shape}, as it was handed to you, and it is {np.shape(x)}")
        asked = np.asarray(x, dtype=np.float64)
        points.ask(asked)
        return FUNCTIONS[name](asked, c)

    return Patient({"f": way}, lambda: {"asked_at": points.in_words()}, most_numbers=2**10)
