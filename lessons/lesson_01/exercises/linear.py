"""`linear_gradients`: cases, mistakes and variants. The one gradient of the lesson that is worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.mlp_numpy import linear_gradients
from grader.authoring.aspects import USUAL, dtype, shape, special, untouched, values
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_01.exercises.drawing import to_numpy

Array = np.ndarray
Batch = tuple[Array, Array]


def _layers(generator: np.random.Generator) -> list[Case]:
    def draw(n: int, d_in: int, d_out: int, kind: torch.dtype = torch.float64) -> Any:
        sizes = {"W": (d_in, d_out), "b": (d_out,), "inputs": (n, d_in), "targets": (n, d_out)}
        return to_numpy({name: normal(generator, *size, dtype=kind) for name, size in sizes.items()})

    n, d_in, d_out = dims(generator, 3, 2, 8)
    side = int(generator.integers(3, 6))
    return [
        Case("with several inputs and several outputs", draw(n, d_in, d_out), USUAL),
        Case("with one output", draw(n, d_in, 1), USUAL),
        Case("with one input", draw(d_in, 1, d_out), USUAL),
        Case("with n, d_in and d_out all equal", draw(side, side, side), USUAL),
        Case("on a batch of one", draw(1, d_in, d_out), frozenset({"one"})),
        Case("with float32", draw(n, d_in, d_out, torch.float32), frozenset({"float32"})),
    ]


def _of_errors(
    rule: Callable[[Array, Array], Any], errors_of: Callable[[Array, Array], Array] = np.subtract
) -> Callable[[Array, Array, Batch], Any]:
    """What `rule` makes of the inputs and the errors."""

    def gradients(W: Array, b: Array, batch: Batch) -> Any:
        inputs, targets = batch
        return rule(inputs, errors_of(inputs @ W + b, targets))

    return gradients


_right = _of_errors(lambda x, e: (2 * x.T @ e / e.size, 2 * e.sum(0) / e.size))


def _bias_left_out(W: Array, b: Array, batch: Batch) -> tuple[Array, Array]:
    inputs, targets = batch
    errors = inputs @ W - targets
    return 2 * inputs.T @ errors / errors.size, 2 * errors.sum(axis=0) / errors.size


def _of_the_predictions(W: Array, b: Array, batch: Batch) -> Any:
    return _right(W, b, (batch[0], 0 * batch[1]))


def _targets_overwritten(W: Array, b: Array, batch: Batch) -> tuple[Array, Array]:
    inputs, targets = batch
    targets -= inputs @ W + b
    return -2 * inputs.T @ targets / targets.size, -2 * targets.sum(axis=0) / targets.size


def _row_by_row(W: Array, b: Array, batch: Batch) -> tuple[Array, Array]:
    dW, db = np.zeros_like(W), np.zeros_like(b)
    for x, y in zip(*batch, strict=True):
        error = x @ W + b - y
        dW += 2 * np.outer(x, error) / batch[1].size
        db += 2 * error / batch[1].size
    return dW, db


def _entry_by_entry(W: Array, b: Array, batch: Batch) -> tuple[Array, Array]:
    inputs, targets = batch
    slope = 2 / targets.size * (inputs @ W + b - targets)
    dW = np.empty_like(W)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            dW[i, j] = (inputs[:, i] * slope[:, j]).sum()
    return dW, slope.sum(axis=0)


def _with_a_column_of_ones(W: Array, b: Array, batch: Batch) -> list[Array]:
    inputs, targets = batch
    wide = np.concatenate([inputs, np.ones_like(inputs[:, :1])], axis=1)
    both = wide.T @ (2 * (wide @ np.vstack([W, b]) - targets)) / targets.size
    return [both[:-1], both[-1]]


LINEAR_GRADIENTS = Exercise(
    symbol="linear_gradients",
    points=2,
    cases=_layers,
    references=(linear_gradients,),
    aspects=(
        shape(),
        values(),
        special("a batch of one", "one"),
        dtype(),
        special("float32", "float32"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "negated",
            _of_errors(lambda x, e: (2 * x.T @ e / e.size, 2 * e.sum(0) / e.size), lambda p, t: t - p),
            "Every sign is flipped: your slopes point downhill. An error is which of the two minus the other?",
            central=True,
        ),
        Mistake(
            "two_forgotten",
            _of_errors(lambda x, e: (x.T @ e / e.size, e.sum(0) / e.size)),
            "Everything is half as large as it should be. What does the slope of a square bring to the front?",
            central=True,
        ),
        Mistake(
            "sum_not_mean",
            _of_errors(lambda x, e: (2 * x.T @ e, 2 * e.sum(0))),
            "These are the slopes of the sum of the squared errors. The loss is their mean: what is missing?",
            central=True,
        ),
        Mistake(
            "inputs_forgotten",
            _of_errors(lambda x, e: (2 * np.ones_like(x).T @ e / e.size, 2 * e.sum(0) / e.size)),
            "Your dW treats every input as if it were 1. If W grows a little, how far does a prediction move "
            "when its input is 2?",
            central=True,
        ),
        Mistake(
            "divided_by_rows",
            _of_errors(lambda x, e: (2 * x.T @ e / len(x), 2 * e.sum(0) / len(x))),
            "One output is right, several are not: you divide by the number of rows. How many squared errors does "
            "the loss average when a row has several outputs?",
        ),
        Mistake(
            "bias_divided_by_rows",
            _of_errors(lambda x, e: (2 * x.T @ e / e.size, 2 * e.mean(axis=0))),
            "dW is right, and db is right for one output only: it is a mean over the rows. Should db be divided by "
            "the same number as dW?",
        ),
        Mistake(
            "one_bias_for_all",
            _of_errors(lambda x, e: (2 * x.T @ e / e.size, 2 * e.mean())),
            "Your db is a single number. Each output has a bias of its own: along which axis do the errors add up?",
        ),
        Mistake(
            "bias_not_summed",
            _of_errors(lambda x, e: (2 * x.T @ e / e.size, 2 * e / e.size)),
            "Your db has one row for each example. The same bias serves all of them: what happens to their shares?",
        ),
        Mistake(
            "weights_transposed",
            _of_errors(lambda x, e: (2 * e.T @ x / e.size, 2 * e.sum(0) / e.size)),
            "Your dW is the transpose of what it should be. What shape must it have before you can subtract it from W?",
        ),
        Mistake(
            "product_entry_by_entry",
            _of_errors(lambda x, e: (2 * (x * e).mean(axis=0), 2 * e.mean(axis=0))),
            "You multiplied inputs and errors entry by entry. Every input meets every output: which product of "
            "matrices does that, and adds up the examples on the way?",
        ),
        Mistake(
            "one_weight_only",
            _of_errors(lambda x, e: (2 * (x * e).mean(), 2 * e.mean())),
            "That is the formula for a single weight, and it gives single numbers. What shapes should dW and db have?",
        ),
        Mistake(
            "not_transposed",
            _of_errors(lambda x, e: (2 * x @ e / e.size, 2 * e.sum(0) / e.size)),
            "The shapes of inputs and errors don't fit as they stand: (n, d_in) and (n, d_out). The examples should "
            "be added up, so where must the two n's meet?",
        ),
        Mistake(
            "bias_left_out",
            _bias_left_out,
            "Your errors ignore b. What does the layer add to the product before it predicts?",
        ),
        Mistake(
            "targets_left_out",
            _of_the_predictions,
            "The targets play no part in your slopes. What do you compare the predictions with?",
        ),
        Mistake(
            "pair_swapped",
            _of_errors(lambda x, e: (2 * e.sum(0) / e.size, 2 * x.T @ e / e.size)),
            "You return (db, dW). In which order does the docstring ask for the two?",
        ),
        Mistake(
            "weights_only",
            _of_errors(lambda x, e: 2 * x.T @ e / e.size),
            "That is dW alone. The bias is a parameter too: where is its slope?",
        ),
        Mistake(
            "targets_overwritten",
            _targets_overwritten,
            "The slopes are right, but the caller's targets now hold errors. What does -= do to an array that "
            "somebody else uses too?",
        ),
    ),
    variants={
        "in two lines": _right,
        "mean over the rows": _of_errors(
            lambda x, e: (2 * (x.T @ e) / len(x) / e.shape[1], 2 * e.mean(axis=0) / e.shape[1])
        ),
        "row by row": _row_by_row,
        "entry by entry": _entry_by_entry,
        "einsum": _of_errors(lambda x, e: (np.einsum("ni,no->io", x, 2 * e / e.size), 2 / e.size * e.sum(0))),
        "a column of ones": _with_a_column_of_ones,
        "the transpose last": _of_errors(lambda x, e: ((2 * e.T @ x / e.size).T, 2 * np.sum(e, 0) / e.size)),
        "targets minus predictions, and a minus": _of_errors(
            lambda x, e: (-2 * x.T @ e / e.size, -2 * e.sum(0) / e.size), lambda p, t: t - p
        ),
    },
)
