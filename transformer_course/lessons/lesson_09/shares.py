"""What a softmax makes of numbers, and what comes back through it, in words: a property that the result hasn't got."""

from __future__ import annotations

from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED

_FAR = 500.0
"""So far apart that the exponential of the difference is next to nothing, or overflows."""


def of_softmax(output: Any, x: np.ndarray, axis: int) -> str:
    """What the numbers add up to along the axis that was asked for, and what they go by."""
    if not _is_like(output, x):
        return AS_ASKED
    if np.isnan(output).any():
        if np.isnan(output).all() or (np.abs(x) < _FAR).all():  # it has nothing to do with what stands in x
            return AS_ASKED
        return _not_a_number(np.isnan(output).any(axis=axis), x.max(axis=axis), x.min(axis=axis))
    near = 1e-4 if output.dtype == np.float32 else 1e-8
    sums = output.sum(axis=axis)
    if np.allclose(sums, -1.0, rtol=0, atol=near):  # a sign says more than a sum
        return AS_ASKED
    if not np.allclose(sums, 1.0, rtol=0, atol=near):
        return _sums(output, sums, axis % x.ndim, near)
    if not (output > 0).any() or (output < 0).any():
        return AS_ASKED
    with np.errstate(divide="ignore"):
        powers = np.log(output)
    below, wanted = (one - one.max(axis=axis, keepdims=True) for one in (powers, x))
    visible = wanted > -_FAR
    if np.allclose(below[visible], wanted[visible], atol=1e3 * near):
        return AS_ASKED
    cut_off = np.isclose(below, 0.0, atol=near) & (wanted < -1e-3)
    if (x < -_FAR).any() and cut_off.any():
        return (
            "Far below 0, numbers that differ get equal shares: you cut them off. What could you subtract from a whole "
            "row instead, so that its differences stay?"
        )
    factors = below[wanted < -1e-3] / wanted[wanted < -1e-3]
    if np.allclose(factors, factors[0], rtol=1e-2):
        return (
            "Your rows add up to 1, but a number that is larger by 1 gets a share that is "
            f"{np.exp(factors[0]):.3g} times as large, not e times. What do you take the exponential of?"
        )
    return (
        "Your rows add up to 1, but a number that is larger by 1 doesn't get e times the share. From all the numbers "
        "that share one sum, the same has to be subtracted: do you subtract the maximum along another axis?"
    )


def _not_a_number(where: np.ndarray, largest: np.ndarray, smallest: np.ndarray) -> str:
    """Of rows with NaN."""
    usual = (np.abs(largest) < _FAR) & (np.abs(smallest) < _FAR)
    if (where & usual).any():
        return (
            "A row of small numbers gives NaN because of what stands in another row. Whose maximum do you subtract "
            "from it?"
        )
    if (where & (largest < -_FAR)).any():
        return (
            "Where all the numbers of a row are far below 0, all your exponentials are 0, and 0 / 0 is NaN. After the "
            "subtraction, how large should the largest number of each row be?"
        )
    if (where & (np.abs(largest) < _FAR)).any():
        return (
            "A row of small numbers with a single -800 gives NaN: it isn't the row's largest number that you subtract. "
            "With it, each exponential would be at most 1, and one of them 1. Which one do you subtract?"
        )
    return "Where a number is 800, its exponential is infinite. What could you subtract from a whole row first?"


def _sums(output: np.ndarray, sums: np.ndarray, axis: int, near: float) -> str:
    for other in range(output.ndim):
        if other != axis and np.allclose(output.sum(axis=other), 1.0, rtol=0, atol=near):
            return (
                f"Your numbers add up to 1 along axis {other}, and axis {axis} was asked for. Which of them do you sum "
                "along?"
            )
    if abs(float(output.sum()) - 1) < near:
        return "All your numbers together add up to 1. Which of them share one sum?"
    farthest = float(sums.flat[np.abs(sums - 1).argmax()])
    if (np.abs(sums - 1) < 0.1).all():
        return (
            f"Along the axis that was asked for, your numbers add up to {farthest:.10g}, not to 1. What is "
            "in the sum that you divide by, besides their exponentials?"
        )
    return (
        f"Along the axis that was asked for, your numbers add up to {farthest:.3g}, not to 1. By what is "
        "each of them divided?"
    )


def of_scores(output: Any, weights: np.ndarray, gradient: np.ndarray) -> str:
    """What is subtracted from a row's gradients before they are multiplied by the weights, and what comes of it."""
    if not _is_like(output, weights) or weights.dtype != np.float64 or weights.shape[-1] == 1 or not weights.all():
        return AS_ASKED
    mean = (weights * gradient).sum(axis=-1, keepdims=True)
    right = weights * (gradient - mean)
    if np.allclose(output, right):
        return AS_ASKED
    factors = output / right
    if np.allclose(factors, factors.flat[0]):
        if np.isclose(factors.flat[0], -1.0):
            return (
                "All your signs are turned round. If a weight with a gradient above the mean of its row grows, does "
                "the loss rise or fall?"
            )
        return f"Your gradients are {factors.flat[0]:.4g} times what they should be. Which factor comes on top?"
    subtracted = gradient - output / weights
    if np.allclose(subtracted, subtracted[..., :1]):
        return (
            f"From each gradient of the first row you subtract {float(subtracted.flat[0]):.4g}, and their mean, "
            f"weighted by the softmax, is {float(mean.flat[0]):.4g}. What is each gradient multiplied by in that sum?"
        )
    if output.ndim > 1 and output.shape[-2] > 1 and np.allclose(subtracted, subtracted[..., :1, :]):
        return (
            "What you subtract is the same for all rows, and differs from column to column: it is worked out along "
            "another axis. Which weights add up to 1?"
        )
    if np.abs(output.sum(axis=-1)).max() > 1e-8:
        return (
            "If all scores of a row grow alike, its weights stay as they are, so the gradients of its scores add up to "
            "0. Yours don't: what do you subtract from each gradient, and what is the difference multiplied by?"
        )
    return AS_ASKED


def _is_like(output: Any, other: np.ndarray) -> bool:
    return isinstance(output, np.ndarray) and output.shape == other.shape and output.dtype.kind == "f"
