"""`train`: cases, mistakes and variants. The probe brings a toy model and its optimizer."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.training import train
from grader.authoring.aspects import KNOWN, USUAL, also, main, special, untouched
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_01.exercises.drawing import draw_params
from lessons.lesson_01.exercises.loops import (
    after_the_step,
    all_rows_each_step,
    by_closure,
    grads_by_hand,
    mse,
    never_moves,
    never_zeroed,
    noting,
    one_more_loss,
    own_rule,
    predicted_once,
    right,
    row_by_row,
    step_before_backward,
    with_loss,
    zeroed_after,
)


def _runs(generator: np.random.Generator) -> list[Case]:
    def draw(optimizer: str, steps: int, n: int, d_out: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        d_in, d_hidden = dims(generator, 2, 2, 5)
        return {
            "params": draw_params(generator, [d_in, d_hidden, d_out], kind),
            "inputs": normal(generator, n, d_in, dtype=kind),
            "targets": 3 * normal(generator, n, d_out, dtype=kind),  # so that gradients are long
            "optimizer": optimizer,
            "steps": steps,
        }

    several, rows = sorted(dims(generator, 2, 2, 6))
    return [
        Case("with plain SGD", draw("sgd", 4, rows, several), USUAL),
        Case("with SGD and momentum", draw("momentum", 4, rows, several), USUAL),
        Case("with Adam", draw("adam", 3, rows, several), frozenset({"adam"})),
        Case("with one output", draw("sgd", 3, rows, 1), frozenset({"column"})),
        Case("on a batch of one", draw("momentum", 3, 1, several), frozenset({"one"})),
        Case("with a single step", draw("sgd", 1, rows, several), frozenset({"few"})),
        Case("with no step at all", draw("sgd", 0, rows, several), frozenset({"few"})),
        Case("with float64", draw("adam", 3, rows, several, torch.float64), frozenset({"float64"})),
    ]


def _numbers(observation: Observation, case: Case) -> Observation:
    """Losses in tensors are numbers too; that they are no Python floats is noted apart."""
    losses = [
        float(loss) if isinstance(loss, torch.Tensor) and loss.numel() == 1 else loss for loss in observation["losses"]
    ]
    return {**observation, "losses": losses}


_on = partial(special, keys=("weights", "losses"))


TRAIN = Exercise(
    symbol="train",
    points=3,
    cases=_runs,
    references=(train,),
    canonical=_numbers,
    aspects=(
        main(
            "the model learns",
            keys=("weights",),
            meaning="After training, the weights are where the optimiser should have taken them.",
        ),
        Aspect(
            "losses",
            keys=("losses",),
            kinds=KNOWN,
            weight=2.0,
            tags=USUAL,
            meaning="The list holds one loss for each step, measured before that step.",
        ),
        also("Python floats", "kind_of_losses", meaning="The losses are plain Python floats, not tensors."),
        _on("any optimizer", "adam", meaning="Training works with whichever optimiser is passed in, such as Adam."),
        _on("one output", "column", 2.0, meaning="A model with a single output is trained correctly too."),
        _on("a batch of one", "one"),
        _on(
            "as many steps as asked",
            "few",
            meaning="Training takes exactly as many steps as asked, even if that is one or none.",
        ),
        _on("float64", "float64"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "never_zeroed",
            never_zeroed,
            "The first step is right, the later ones are too long: each backward adds to the gradients that are "
            "already there. When should the old ones be cleared?",
            central=True,
        ),
        Mistake(
            "never_moves",
            never_moves,
            "The losses are all the same: the model never moves. Which call takes the step, and are the gradients "
            "still there when it does?",
            central=True,
        ),
        Mistake(
            "step_before_backward",
            step_before_backward,
            "The optimiser steps before there is a gradient, so you are always one step behind. What has to be known "
            "before a step?",
            central=True,
        ),
        Mistake(
            "predictions_made_once",
            predicted_once,
            "The first step works, the second stops with an error: backward can walk through a graph only once. Do "
            "you predict again in each step?",
            central=True,
        ),
        Mistake(
            "own_optimizer",
            own_rule,
            "Plain SGD comes out right, other optimisers don't: you don't use the one you were given. Who should "
            "decide how the parameters move?",
        ),
        Mistake(
            "another_row_each_step",
            row_by_row,
            "Each step saw a single row. How many rows belong to a step on the full batch?",
        ),
        Mistake(
            "a_step_for_every_row",
            all_rows_each_step,
            "You take a step for every row. How many steps does the full batch make when it is seen all at once?",
        ),
        Mistake(
            "sum_not_mean",
            with_loss(lambda p, t: ((p - t) ** 2).sum()),
            "You train on the sum of the squared errors, so each step is too long. Which division turns a sum into a "
            "mean?",
        ),
        Mistake(
            "halved",
            with_loss(lambda p, t: mse(p, t) / 2),
            "You train on half of the mean squared error. Is there a factor of 1/2 in this course's loss?",
        ),
        Mistake(
            "absolute_error",
            with_loss(lambda p, t: (p - t).abs().mean()),
            "You train on the mean absolute error. What does the S in MSE do to each error?",
        ),
        Mistake(
            "root_taken",
            with_loss(lambda p, t: mse(p, t).sqrt()),
            "You train on the square root of the mean squared error. Does MSE end with a root?",
        ),
        Mistake(
            "one_step_too_many",
            lambda m, x, y, o, steps: right(m, x, y, o, steps + 1),
            "There is one step too many. Where does your loop start counting, and where does it stop?",
        ),
        Mistake(
            "one_step_too_few",
            lambda m, x, y, o, steps: right(m, x, y, o, max(steps - 1, 0)),
            "There is one step too few. Where does your loop start counting, and where does it stop?",
        ),
        Mistake(
            "one_step_only",
            lambda m, x, y, o, steps: right(m, x, y, o, min(steps, 1)),
            "It stops after the first step. Is the return inside the loop?",
        ),
        Mistake(
            "predictions_squeezed",
            with_loss(lambda p, t: mse(p.squeeze(), t)),
            "With one output, predictions of shape (n,) met targets of shape (n, 1): each prediction was compared "
            "with every target. Do you need the squeeze at all?",
        ),
        Mistake(
            "targets_flattened",
            with_loss(lambda p, t: mse(p, t.reshape(-1))),
            "You flattened the targets but not the predictions. What does broadcasting make of (n, 1) against (n,)?",
        ),
        Mistake(
            "loss_after_the_step",
            after_the_step,
            "The model learns well, but you measured each loss after its step. Which loss led to the step: the one "
            "before it, or the one after it?",
        ),
        Mistake(
            "one_loss_more",
            one_more_loss,
            "The model learns well, but there is one loss more than there are steps. Does the loss after the last "
            "step belong in the list?",
        ),
        Mistake(
            "tensor_losses",
            noting(lambda noted, loss: [*noted, loss.detach()]),
            "The numbers are right, but they are tensors. Which method of a tensor gives you a plain Python number?",
        ),
        Mistake(
            "last_loss_only",
            noting(lambda noted, loss: loss.item()),
            "Only the last loss came back. What would you need in order to draw a curve?",
        ),
        Mistake(
            "nothing_returned",
            noting(lambda noted, loss: None),
            "The model learns well, but nothing is returned. Where are the losses?",
        ),
        Mistake(
            "losses_added_up",
            noting(lambda noted, loss: [*noted, (noted[-1] if noted else 0.0) + loss.item()]),
            "Each number is the sum of all losses so far. Should the list hold a running total, or each step's own "
            "loss?",
        ),
    ),
    variants={
        "by hand": right,
        "closure": by_closure,
        "zeroed after the step": zeroed_after,
        "gradients by hand": grads_by_hand,
        "F.mse_loss": with_loss(F.mse_loss),
        "squared norm": with_loss(lambda p, t: torch.linalg.vector_norm(p - t) ** 2 / p.numel()),
        "NumPy's double": noting(lambda noted, loss: [*noted, np.float64(loss.item())]),
        "tolist": noting(lambda noted, loss: [*noted, loss.tolist()]),
    },
)
