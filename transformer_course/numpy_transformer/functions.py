"""Softmax, cross-entropy and attention as functions, forward and backward; and the test that a gradient has to pass."""

from collections.abc import Callable

import numpy as np


def gradient_check(f: Callable[[np.ndarray], tuple[float, np.ndarray]], x: np.ndarray) -> float:
    """How far the gradient that `f` claims is from the slopes that can be measured: the
    largest relative error of any entry.

    `f(x)` returns (value, gradient): one number, and an array of the shape of `x`. `x`
    is a float64 array of any shape, and is afterwards as it was. Each entry is moved a
    little up and a little down, by h, one entry at a time; the measured slope is

        (value above - value below) / 2h

    and the relative error of an entry is

        |measured - claimed| / (|measured| + |claimed|)

    with a denominator of at least 0.0001: where nothing changes, only the rounding of
    the values is measured. A right gradient stays below 0.00001 as long as the values of
    `f` aren't far above 10. One wrong entry is enough to exceed that, if it is off by
    more than a few thousandths of a percent, and by more than about 0.000000001.

    >>> gradient_check(lambda x: (float((x**2).sum()), 2 * x), np.array([1.0, -3.0])) < 1e-5
    True
    >>> round(gradient_check(lambda x: (float((x**2).sum()), x), np.array([1.0, -3.0])), 3)  # 2x against x
    0.333
    """
    ### BEGIN SOLUTION
    h = 1e-5
    claimed = np.array(f(x.copy())[1])  # a copy: f may use the same array again
    measured = np.zeros_like(claimed)
    for place in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[place] += h
        below[place] -= h
        measured[place] = (f(above)[0] - f(below)[0]) / (2 * h)
    size = np.abs(measured) + np.abs(claimed)
    return float((np.abs(measured - claimed) / np.maximum(size, 1e-4)).max())
    ### END SOLUTION


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Exponentials, divided by their sum along `axis`: positive numbers that add up to 1.

    The result has the shape and the dtype of `x`. Large numbers don't overflow: the
    largest along the axis is subtracted first, which changes nothing else.

    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    ### BEGIN SOLUTION
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    weights: np.ndarray = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return weights
    ### END SOLUTION


def softmax_backward(weights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Take a gradient back through a softmax over the last axis.

    `weights` is what the softmax returned. `gradient` has the same shape: it says how
    the loss changes with each weight. Returns how the loss changes with each score:

        weight * (gradient - the sum over the row of weight * gradient)

    float32 stays float32. Neither argument changes.

    >>> softmax_backward(np.array([0.25, 0.75]), np.array([4.0, 0.0]))  # the sum is 1
    array([ 0.75, -0.75])
    """
    ### BEGIN SOLUTION
    mean = (weights * gradient).sum(axis=-1, keepdims=True)  # (..., n) -> (..., 1)
    scores_gradient: np.ndarray = weights * (gradient - mean)
    return scores_gradient
    ### END SOLUTION


def cross_entropy(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> tuple[float, np.ndarray]:
    """The mean cross-entropy, and its gradient with respect to the logits.

    `logits` is (..., vocab_size) and `targets`, whole numbers, is (...). A position
    whose target is `pad_id` counts neither in the loss nor in the number of positions
    that the mean is taken over; its gradient is 0. The loss is a Python float, and the
    gradient has the shape and the dtype of the logits. Large logits don't overflow: if
    the right one is 900 below the largest, the loss is 900.

    >>> loss, gradient = cross_entropy(np.array([[0.0, 0.0, np.log(2.0)]]), np.array([2]))
    >>> round(loss, 4), gradient  # the softmax is 1/4, 1/4, 1/2
    (0.6931, array([[ 0.25,  0.25, -0.5 ]]))

    Raises:
        ValueError: when every target is padding.
    """
    ### BEGIN SOLUTION
    counts = targets != pad_id  # (...)
    number = int(counts.sum())
    if number == 0:
        raise ValueError("every target is padding: there is nothing to take the mean of")
    gradient = softmax(logits)  # (..., vocab_size)
    highest = logits.max(axis=-1, keepdims=True)
    log_sums = highest + np.log(np.exp(logits - highest).sum(axis=-1, keepdims=True))
    chosen = np.take_along_axis(logits - log_sums, targets[..., None], axis=-1)[..., 0]
    loss = float(-chosen[counts].sum() / number)
    one_hot = np.arange(logits.shape[-1]) == targets[..., None]
    gradient = (gradient - one_hot) * counts[..., None] / number
    return loss, gradient.astype(logits.dtype)
    ### END SOLUTION


def attention_backward(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, weights: np.ndarray, gradient: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take a gradient back through scaled dot-product attention: (dquery, dkey, dvalue).

    The forward pass was

        scores  = query @ key.mT / sqrt(d)
        weights = softmax(scores)
        output  = weights @ value

    `query` is (..., queries, d), `key` (..., keys, d), `value` (..., keys, d_value),
    `weights` (..., queries, keys); `gradient` has the output's shape,
    (..., queries, d_value). Hidden keys have weight 0, so no mask is needed here.
    float32 stays float32.

    >>> q, k, v = np.array([[1.0]]), np.array([[0.0], [0.0]]), np.array([[4.0], [0.0]])
    >>> dq, dk, dv = attention_backward(q, k, v, np.array([[0.5, 0.5]]), np.array([[1.0]]))
    >>> dk.T, dv.T
    (array([[ 1., -1.]]), array([[0.5, 0.5]]))
    """
    ### BEGIN SOLUTION
    scale = query.shape[-1] ** -0.5
    value_gradient = weights.mT @ gradient  # (..., keys, queries) @ (..., queries, d_value)
    weights_gradient = gradient @ value.mT  # (..., queries, keys)
    scores_gradient = softmax_backward(weights, weights_gradient) * scale
    query_gradient = scores_gradient @ key  # (..., queries, d)
    key_gradient = scores_gradient.mT @ query  # (..., keys, d)
    return query_gradient, key_gradient, value_gradient
    ### END SOLUTION
