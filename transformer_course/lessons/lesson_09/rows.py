"""How the rows come together in a gradient, and what a gradient goes by, in words: for layers that treat rows alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched

Gradients = Callable[..., Mapping[str, Any]]
"""Forward with x, back with a gradient: the gradients of the weights by name. Weights may be multiplied first."""


def shares(gradients: Gradients, x: np.ndarray, gradient: np.ndarray) -> str:
    """How the rows' shares in the gradients of the weights come together."""
    whole, otherwise = gradients(x, gradient), gradients(x, gradient, weight=-1.0, bias=-1.0)
    doubled = gradients(np.concatenate([x, x]), np.concatenate([gradient, gradient]))
    alone, among_others = [], []
    for place in np.ndindex(gradient.shape[:-1]):
        of_one_row, beside = np.zeros_like(gradient), x[::-1, ::-1] + 1
        of_one_row[place], beside[place] = gradient[place], x[place]
        alone.append(gradients(x, of_one_row))
        among_others.append(gradients(beside, of_one_row))
    for name, one in whole.items():
        if not all(np.any(each[name]) for each in alone):
            return f"Some rows leave no trace in your {name}_grad. How many of them did the {name} serve?"
        if near(doubled[name], one):
            return (
                f"Your {name}_grad stays the same when each row comes twice: it is a mean over the rows. Each of them "
                "has its share in the loss: do the shares average, or add up?"
            )
        if not all(near(each[name], other[name]) for each, other in zip(alone, among_others, strict=True)):
            return (
                f"The share of a row in your {name}_grad depends on what is in the other rows. What met the "
                f"{name} in forward, one row or a sum of rows?"
            )
        if not near(otherwise[name], one):
            return (
                f"With other weights, your {name}_grad changes. What was the {name} multiplied by, or added to, in "
                "forward: anything that depends on the weights?"
            )
    return AS_ASKED


def near(one: Any, other: Any) -> bool:
    """Whether two results are the same, up to rounding."""
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-8, atol=1e-10))


def slopes_of_product(back: Callable[..., Any], x: np.ndarray, gradient: np.ndarray) -> str:
    """What the gradient of a product with a weight depends on: `back` goes by `weight` and `bias` times a factor."""
    slopes = back(x, gradient)
    for what, others in (("x", back(1 - x, gradient)), ("the bias", back(x, gradient, bias=2.0))):
        if not near(slopes, others):
            return (
                f"What you send back changes with {what}. When an entry of x grows, how fast do the outputs grow: does "
                f"that depend on {what}?"
            )
    if not near(2 * slopes, back(x, gradient, weight=2.0)):
        return (
            "With weights twice as large, the outputs grow twice as fast, but what you send back isn't twice as large. "
            "How does the weight come into it?"
        )
    return AS_ASKED


def slopes_of_norm(back: Callable[..., Any], weight: np.ndarray, x: np.ndarray, gradient: np.ndarray) -> str:
    """What the gradient of a norm has in common with the norm: it knows neither where a row lies nor how wide it is."""
    slopes, centred = back(x, gradient), x - x.mean(axis=-1, keepdims=True)
    size = np.abs(slopes).sum(axis=-1)
    if (np.abs(slopes.sum(axis=-1)) > 1e-6 * size).any():
        return (
            "A row that grows by the same number everywhere gives the same output, so what you send back must add up "
            "to 0 along each row. It doesn't: which of your terms spoils the sum?"
        )
    if (np.abs((slopes * centred).sum(axis=-1)) > 1e-6 * size * np.abs(centred).max(axis=-1)).any():
        return (
            "A row that is stretched gives the same output, so what you send back, times the row less its mean, must "
            "add up to 0. It doesn't: which of your terms sees to that?"
        )
    factor = float(np.abs(back(2 * x, gradient)).sum() / size.sum())
    if abs(factor - 0.5) > 1e-3:
        return (
            f"When x is twice as large, your gradient is multiplied by {factor:.3g}. What did forward divide by, and "
            "how often?"
        )
    if not np.allclose(slopes, back(x, gradient * weight, weight=1 / weight), rtol=1e-6, atol=0):
        return (
            "On the way back, each entry of the incoming gradient meets its own entry of weight, once. Yours don't. "
            "What did weight do to the normalised numbers at the end of forward?"
        )
    return AS_ASKED


def steps_of_norm(forward: Callable[..., Any], weight: np.ndarray, bias: np.ndarray, x: np.ndarray) -> str:
    """What a norm makes of large vectors, and what it does with weight and bias: `forward` takes other ones by name."""
    plain = forward(x, weight=np.ones_like(weight), bias=np.zeros_like(bias))
    if not isinstance(plain, np.ndarray) or plain.shape != x.shape or plain.dtype != np.float64:
        raise Unwatched
    ways: dict[str, int | None] = {
        "each vector": -1,
        "each column of positions": 1,
        "the batch": 0,
        "all numbers": None,
    }
    means = {
        name: bool(np.abs(plain.mean(axis=axis)).max() < 1e-6 * np.abs(plain).max()) for name, axis in ways.items()
    }
    if not means["each vector"]:
        for name in (name for name, zero in means.items() if zero):
            return f"Your norm brings {name} to mean 0, not each vector. Along which axis does a mean run?"
        return "Before weight and bias, your vectors don't have mean 0. What is subtracted from each number?"
    stretch = float(np.abs(forward(2 * x, weight=np.ones_like(weight), bias=np.zeros_like(bias))).sum())
    stretch /= float(np.abs(plain).sum())
    if abs(stretch - 1) > 1e-3:
        return (
            f"With x twice as large, your output is {stretch:.3g} times as large. What do you divide by, and how often?"
        )
    variances = plain.var(axis=-1)
    if not np.allclose(variances, 1.0, rtol=1e-4):
        return (
            f"Before weight and bias, your vectors have variance {variances.flat[0]:.3g}, not 1. Along which "
            "axis, and over how many numbers, does its mean run?"
        )
    output = forward(x, weight=weight, bias=bias)
    for words, other in {
        "Your forward makes nothing of bias.": plain * weight,
        "Your forward makes nothing of weight.": plain + bias,
        "Your forward multiplies bias by weight too.": (plain + bias) * weight,
    }.items():
        if np.allclose(output, other, rtol=1e-6, atol=1e-8):
            return words + " What does the docstring do with the normalised numbers, and in which order?"
    return AS_ASKED


def stretched(gradients: Gradients, x: np.ndarray, gradient: np.ndarray) -> str:
    """Whether the weights' gradients are made of what a norm brings to one size and one mean."""
    for name, one in gradients(x, gradient).items():
        for what, other in (("stretched", 2 * x), ("shifted", x + np.abs(x).max())):
            if not np.allclose(gradients(other, gradient)[name], one, rtol=1e-6, atol=1e-8):
                return (
                    f"When all of x is {what}, your {name}_grad changes, though the normalised numbers stay as they "
                    f"are. Which numbers did {name} meet in forward?"
                )
    return AS_ASKED
