"""`mse_loss_numpy` and `mse_loss`: the same mistakes are made in both, by code that runs on both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.mlp import mlp_predict, mse_loss
from course.mlp_numpy import mlp_predict_numpy, mse_loss_numpy
from grader.authoring.aspects import CONTENT, USUAL, any_numbers, gradients, special, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_01.exercises.drawing import Params, draw_batch, forward, spread, to_numpy

Batch = tuple[Any, Any]


def _batches(generator: np.random.Generator) -> list[Case]:
    n, *three = dims(generator, 4, 3, 8)
    side = int(generator.integers(3, 6))
    d_in, d_hidden, rows = dims(generator, 3, 3, 8)
    apart = draw_batch(generator, dims(generator, 3, 3, 7), 4)
    apart = {
        "params": spread(apart["params"]),
        "inputs": strided(apart["inputs"]),
        "targets": strided(apart["targets"]),
    }
    return [
        Case("with several outputs", draw_batch(generator, three, n), USUAL),
        Case("where all sizes are equal", draw_batch(generator, [side] * 3, side), USUAL),
        Case("with a single layer", draw_batch(generator, three[:2], n), USUAL),
        Case("with one output", draw_batch(generator, [d_in, d_hidden, 1], rows), frozenset({"column"})),
        Case("on a batch of one", draw_batch(generator, three, 1), frozenset({"one"})),
        Case("with float64", draw_batch(generator, three, n, torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", apart, frozenset({"strided"})),
    ]


def _numpy_batches(generator: np.random.Generator) -> list[Case]:
    return [
        Case(case.label, to_numpy(dict(case.inputs)), case.tags)
        for case in _batches(generator)
        if "strided" not in case.tags
    ]


def _loss(reduce: Callable[[Any, Any], Any]) -> Callable[[Params, Batch], Any]:
    """A loss that makes `reduce(predictions, targets)` of a batch."""

    def loss(params: Params, batch: Batch) -> Any:
        inputs, targets = batch
        return reduce(forward(params, inputs), targets)

    return loss


def _targets_overwritten(predictions: Any, targets: Any) -> Any:
    targets -= predictions
    return (targets**2).mean()


_MISTAKES = (
    Mistake(
        "sum_not_mean",
        _loss(lambda p, t: ((p - t) ** 2).sum()),
        "Your result is the sum of the squared errors. Which division turns a sum into a mean?",
        central=True,
    ),
    Mistake(
        "halved",
        _loss(lambda p, t: ((p - t) ** 2).mean() / 2),
        "Your result is half of the mean squared error. Some books put 1/2 in front to make the derivative prettier: "
        "does this course?",
    ),
    Mistake(
        "divided_by_rows",
        _loss(lambda p, t: ((p - t) ** 2).sum() / p.shape[0]),
        "You divided the sum by the number of rows. How many entries are there when a row holds several outputs?",
    ),
    Mistake(
        "absolute_error",
        _loss(lambda p, t: abs(p - t).mean()),
        "Your result is the mean absolute error. What does the S in MSE do to each error?",
    ),
    Mistake(
        "root_taken",
        _loss(lambda p, t: ((p - t) ** 2).mean() ** 0.5),
        "Your result is the square root of the mean squared error. Does MSE end with a root?",
    ),
    Mistake(
        "squared_after_the_mean",
        _loss(lambda p, t: (p - t).mean() ** 2),
        "You squared the mean error, so errors up and errors down cancel first. Which comes first, the square or the "
        "mean?",
    ),
    Mistake(
        "not_squared",
        _loss(lambda p, t: (p - t).mean()),
        "Your result is the mean of the errors, and it can be negative. What happens to each error before the mean?",
    ),
    Mistake(
        "one_loss_a_row",
        _loss(lambda p, t: ((p - t) ** 2).mean(-1)),
        "You have one loss for each row of the batch. How do you get a single number out of them?",
    ),
    Mistake(
        "one_loss_a_column",
        _loss(lambda p, t: ((p - t) ** 2).mean(0)),
        "You have one loss for each output. How do you get a single number out of them?",
    ),
    Mistake(
        "row_means_added",
        _loss(lambda p, t: ((p - t) ** 2).mean(-1).sum()),
        "You took the mean of each row and then added the rows up. How many entries should the sum be divided by?",
    ),
    Mistake(
        "never_averaged",
        _loss(lambda p, t: (p - t) ** 2),
        "You have the squared error of every entry. How do you get a single number out of them?",
    ),
    Mistake(
        "predictions_squeezed",
        _loss(lambda p, t: ((p.squeeze() - t) ** 2).mean()),
        "With one output, predictions of shape (n,) met targets of shape (n, 1): each prediction was compared with "
        "every target. Do you need the squeeze at all?",
        central=True,
    ),
    Mistake(
        "targets_flattened",
        _loss(lambda p, t: ((p - t.reshape(-1)) ** 2).mean()),
        "You flattened the targets but not the predictions, so their shapes no longer agree. What does broadcasting "
        "make of (n, 1) against (n,)?",
    ),
    Mistake(
        "targets_overwritten",
        _loss(_targets_overwritten),
        "The loss is right, but the caller's targets now hold errors. What does -= do to an array that somebody else "
        "uses too?",
    ),
)


def one_number(observation: Observation, case: Case) -> Observation:
    """The number, as exact as the parameters are, apart from its form.

    A float, a NumPy number and an array without axes are all one number. In an axis of length one it still is
    the right number, in the wrong form; that no gradient flows through a plain number, the gradients tell.
    """
    output, like = observation["output"], case.inputs["params"][0][0]
    array = isinstance(output, torch.Tensor | np.ndarray)
    form = f"of shape {tuple(output.shape)}" if array else "of shape ()"
    if array and np.prod(output.shape) == 1:
        output = output.reshape(())
    if isinstance(output, float):
        is_tensor = isinstance(like, torch.Tensor)
        output = torch.tensor(output, dtype=like.dtype) if is_tensor else np.asarray(output, dtype=like.dtype)
    return {**observation, "output": output, "form": form}


def number() -> Aspect:
    """One number, not several."""
    meaning = "The result is a single number, of shape ()."
    return Aspect("one number", keys=("form",), kinds=CONTENT, tags=USUAL, meaning=meaning)


def one_output(weight: float = 3.0) -> Aspect:
    """The classic trap: (n, 1) against (n,) broadcasts without a word."""
    meaning = "With one output, each prediction is compared with its own target and no other."
    return special("one output", "column", weight, meaning)


MSE_LOSS_NUMPY = Exercise(
    symbol="mse_loss_numpy",
    points=1,
    cases=_numpy_batches,
    references=(mse_loss_numpy,),
    canonical=one_number,
    aspects=(
        number(),
        values(),
        one_output(5.0),
        special("a batch of one", "one"),
        special("float64", "float64"),
        untouched(),
    ),
    mistakes=_MISTAKES,
    variants={
        "mean of squares": _loss(lambda p, t: ((p - t) ** 2).mean()),
        "square": _loss(lambda p, t: np.mean(np.square(t - p))),
        "sum and size": _loss(lambda p, t: float(((p - t) ** 2).sum()) / t.size),
        "mean of means": _loss(lambda p, t: ((p - t) ** 2).mean(axis=1).mean()),
        "vdot": _loss(lambda p, t: np.vdot(p - t, p - t) / p.size),
        "norm": _loss(lambda p, t: np.linalg.norm(p - t) ** 2 / p.size),
        "both flattened": _loss(lambda p, t: np.average((p.ravel() - t.ravel()) ** 2)),
        "array without axes": _loss(lambda p, t: np.asarray(((p - t) ** 2).mean())),
        "calls the course": lambda params, batch: np.mean((batch[1] - mlp_predict_numpy(params, batch[0])) ** 2).item(),
        "loop": _loss(
            lambda p, t: (
                sum((p[i, j] - t[i, j]) ** 2 for i in range(p.shape[0]) for j in range(p.shape[1]))
                / (p.shape[0] * p.shape[1])
            )
        ),
    },
)

MSE_LOSS = Exercise(
    symbol="mse_loss",
    points=1,
    cases=_batches,
    references=(mse_loss,),
    canonical=one_number,
    aspects=(
        number(),
        values(),
        gradients(8.0),
        one_output(),
        special("a batch of one", "one"),
        *any_numbers(),
        untouched(),
    ),
    mistakes=(
        *_MISTAKES,
        Mistake(
            "plain_number",
            _loss(lambda p, t: ((p - t) ** 2).mean().item()),
            "The value is right, but a plain number has no graph behind it, so no gradient can flow. Which call "
            "turned the tensor into a number?",
            central=True,
        ),
        Mistake(
            "graph_cut",
            _loss(lambda p, t: ((p.detach() - t) ** 2).mean()),
            "The value is right, but no gradient flows back to the parameters. What cuts the graph: a detach, .data, "
            "or no_grad?",
            central=True,
        ),
        Mistake(
            "made_float32",
            _loss(lambda p, t: ((p - t) ** 2).mean().float()),
            "With float64 tensors the loss comes back as float32. Which call changes the dtype?",
        ),
    ),
    variants={
        "F.mse_loss": _loss(F.mse_loss),
        "MSELoss": _loss(lambda p, t: torch.nn.MSELoss()(p, t)),
        "square": _loss(lambda p, t: torch.mean(torch.square(t - p))),
        "sum and numel": _loss(lambda p, t: (p - t).pow(2).sum() / t.numel()),
        "mean of means": _loss(lambda p, t: ((p - t) ** 2).mean(0).mean()),
        "norm": _loss(lambda p, t: torch.linalg.vector_norm(p - t) ** 2 / p.numel()),
        "both flattened": _loss(lambda p, t: torch.dot((p - t).flatten(), (p - t).flatten()) / p.numel()),
        "calls the course": lambda params, batch: ((mlp_predict(params, batch[0]) - batch[1]) ** 2).mean(),
        "target detached": _loss(lambda p, t: ((p - t.detach()) * (p - t)).mean()),
    },
)
