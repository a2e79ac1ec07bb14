"""What is said of answers that match no known mistake: by what they do, however they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.lessons.words import Told


def _exp_over_sum(x: np.ndarray, axis: int, less: Any, more: float = 0.0) -> Any:
    with np.errstate(all="ignore"):
        powers = np.exp(x - less)
        return powers / (powers.sum(axis=axis, keepdims=True) + x.dtype.type(more))


def _less_the_smallest(x: np.ndarray, axis: int = -1) -> Any:
    return _exp_over_sum(x, axis, x.min(axis=axis, keepdims=True))


def _less_the_largest_along_the_last(x: np.ndarray, axis: int = -1) -> Any:
    return _exp_over_sum(x, axis, x.max(axis=-1, keepdims=True))


def _with_something_in_the_sum(x: np.ndarray, axis: int = -1) -> Any:
    return _exp_over_sum(x, axis, x.max(axis=axis, keepdims=True), 0.001)


def _along_the_first_axis(x: np.ndarray, axis: int = -1) -> Any:
    return _exp_over_sum(x, 0, x.max(axis=0))


def _with_squared_weights(weights: np.ndarray, gradient: np.ndarray) -> Any:
    return weights * (gradient - (weights**2 * gradient).sum(axis=-1, keepdims=True))


class _Guided:
    """A ReLU that lets positive gradients back alone."""

    def forward(self, x: np.ndarray) -> Any:
        self.positive = x > 0
        return x * self.positive

    def backward(self, gradient: np.ndarray) -> Any:
        return gradient * self.positive * (gradient > 0)


class _SlowingDown:
    """Gradient descent whose steps get shorter."""

    def __init__(self, parameters: list[np.ndarray], learning_rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, learning_rate, 0

    def step(self, gradients: list[np.ndarray]) -> None:
        self.steps += 1
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter -= self.rate / self.steps * gradient


class _Backwards(_SlowingDown):
    def step(self, gradients: list[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters, reversed(gradients), strict=True):
            parameter -= self.rate * gradient


class _WithoutTheLast(_SlowingDown):
    def step(self, gradients: list[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters[:-1], gradients[:-1], strict=True):
            parameter -= self.rate * gradient


def _mean_of_rows(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Any:
    counts = targets != pad_id
    if not counts.any():
        raise ValueError("nothing to read")
    shifted = logits - logits.max(axis=-1, keepdims=True)
    powers = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    share = (share / np.count_nonzero(np.atleast_1d(counts.any(axis=-1)))).astype(logits.dtype)
    one_hot = np.arange(logits.shape[-1]) == targets[..., None]
    return float(-(powers[one_hot].reshape(targets.shape) * share).sum()), (np.exp(powers) - one_hot) * share[..., None]


def _value_first(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, weights: np.ndarray, gradient: np.ndarray
) -> Any:
    slopes = weights * ((of := gradient @ value.mT) - (weights * of).sum(axis=-1, keepdims=True))
    slopes = slopes * query.shape[-1] ** -0.5
    return weights.mT @ gradient, slopes @ key, slopes.mT @ query


ON_CARDS: list[Told] = [
    ("softmax", _less_the_smallest, "it isn't the row's largest number that you subtract"),
    ("softmax", _less_the_largest_along_the_last, "do you subtract the maximum along another axis?"),
    ("softmax", _with_something_in_the_sum, "What is in the sum that you divide by"),
    ("softmax", _along_the_first_axis, "along axis 0, and axis 1 was asked for"),
    ("softmax_backward", _with_squared_weights, "What is each gradient multiplied by in that sum?"),
    ("ReLU", _Guided, "the gradients, or the inputs?"),
    ("SGD", _SlowingDown, "Your step number 2 is 0.5 times the first"),
    ("SGD", _Backwards, "the first goes by the gradient of the third"),
    ("SGD", _WithoutTheLast, "the third never moves"),
    ("cross_entropy", _mean_of_rows, "the mean of the rows' own means"),
    ("attention_backward", _value_first, "the first of them is that of the value"),
]
