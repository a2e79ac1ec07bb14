"""What a loss says of logits that are all alike, and how its gradient fits it, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked


def of_loss(function: Callable[..., Any], logits: np.ndarray, targets: np.ndarray) -> tuple[str, str]:
    """Of a mean cross-entropy and its gradient; no target is padding."""

    def both(logits: np.ndarray) -> tuple[float, np.ndarray]:
        pair = asked(function, logits.copy(), targets.copy())
        if not isinstance(pair, tuple) or len(pair) != 2 or np.shape(pair[0]) or np.shape(pair[1]) != logits.shape:
            raise Unwatched
        return float(pair[0]), pair[1]

    vocab, number = logits.shape[-1], targets.size
    alike = both(np.zeros_like(logits))[0] / float(np.log(vocab))
    if abs(alike) < 1e-9:
        return (
            f"Where {vocab} logits are all alike, each position's loss is log {vocab}, and so is their mean. Yours is "
            "0. The target's logit is compared with the logarithm of a sum: of what?"
        ), AS_ASKED
    if abs(alike - 1) > 1e-6:
        times = {-1.0: "minus that", float(number): f"{number} times that, once for each position"}
        times[1 / float(np.log(2))] = "larger, as with a logarithm to the base 2"
        times[1 / float(np.log(10))] = "smaller, as with a logarithm to the base 10"
        words = next((words for size, words in times.items() if abs(alike - size) < 1e-6), f"{alike:.3g} times that")
        return (
            f"Where {vocab} logits are all alike, each position's loss is log {vocab}, and so is their mean. Yours is "
            f"{words}. What is added up, and divided by what?"
        ), AS_ASKED
    return AS_ASKED, _of_gradient(lambda moved: both(moved)[0], logits, both(logits)[1])


def _of_gradient(loss: Callable[[np.ndarray], float], logits: np.ndarray, gradient: np.ndarray) -> str:
    step = 1e-6
    slopes = np.zeros_like(logits)
    for place in np.ndindex(*logits.shape):
        way = np.zeros_like(logits)
        way[place] = step
        slopes[place] = (loss(logits + way) - loss(logits - way)) / (2 * step)
    if np.allclose(gradient, slopes, atol=1e-7):
        return AS_ASKED
    if not np.allclose(slopes.sum(axis=-1), 0.0, atol=1e-6):  # the loss itself is another
        return AS_ASKED
    if np.abs(gradient.sum(axis=-1)).max() > 1e-6:
        return (
            "When all logits of a position grow alike, the loss stays the same, so its gradient adds up to 0. Yours "
            f"adds up to {gradient.sum(axis=-1).flat[0]:.3g}. What do the probabilities add up to, and what is "
            "subtracted from them?"
        )
    factor = float(gradient.flat[0] / slopes.flat[0])
    if np.allclose(gradient, factor * slopes, atol=1e-6):
        return (
            f"Your gradient is {factor:.4g} times the slope of your own loss. What is each position's share divided by?"
        )
    return (
        "Move a logit a little, and your loss doesn't change as your gradient says. Which logit does the target name?"
    )
