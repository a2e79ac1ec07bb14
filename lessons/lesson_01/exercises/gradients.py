"""`loss_gradients`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.mlp import loss_gradients, mlp_predict, mse_loss
from grader.authoring.aspects import CONTENT, USUAL, any_numbers, shape, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.aspects import special
from lessons.lesson_01.exercises.drawing import Params, draw_batch, relu, spread

Batch = tuple[torch.Tensor, torch.Tensor]


def _batches(generator: np.random.Generator) -> list[Case]:
    n, *three = dims(generator, 4, 3, 8)
    m, *five = dims(generator, 5, 3, 8)
    side = int(generator.integers(3, 6))

    def draw(sizes: list[int], rows: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {**draw_batch(generator, sizes, rows, kind), "params_are": "plain"}

    apart = draw(three, n)
    apart = {**apart, "params": spread(apart["params"]), "inputs": strided(apart["inputs"])}
    return [
        Case("with two layers", draw(three, n), USUAL),
        Case("with three layers", draw(five, m), USUAL),
        Case(
            "with parameters that require gradients",
            {**draw([side] * 3, side), "params_are": "leaves"},
            USUAL,
        ),
        Case("with a single layer", draw(three[:2], n), frozenset({"single"})),
        Case("with one output", draw([*three[:2], 1], n), frozenset({"column"})),
        Case("on a batch of one", draw(three, 1), frozenset({"one"})),
        Case("with float64", draw(three, n, torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", apart, frozenset({"strided"})),
        Case(
            "with parameters that require gradients and hold old ones",
            {**draw(three, n), "params_are": "used"},
            frozenset({"used"}),
        ),
    ]


def _gradients_of(
    loss: Callable[[Any, Any], Any],
) -> Callable[[Params, Batch], list[tuple[torch.Tensor, torch.Tensor]]]:
    """Right gradients of another loss."""

    def differentiate(params: Params, batch: Batch) -> list[tuple[torch.Tensor, torch.Tensor]]:
        leaves = [(W.detach().requires_grad_(), b.detach().requires_grad_()) for W, b in params]
        loss(leaves, batch).backward()
        return [(W.grad, b.grad) for W, b in leaves]

    return differentiate


_right_gradients = _gradients_of(mse_loss)


def _left_in_grad(params: Params, batch: Batch) -> Params:
    for W, b in params:
        W.requires_grad_()
        b.requires_grad_()
    torch.autograd.backward(mse_loss(params, batch))
    return [(W.grad, b.grad) for W, b in params]


def _not_marked(params: Params, batch: Batch) -> Params:
    found = torch.autograd.grad(mse_loss(params, batch), [t for pair in params for t in pair])
    return list(zip(found[0::2], found[1::2], strict=True))


def _flags_switched(params: Params, batch: Batch) -> Params:
    flat = [tensor.requires_grad_() for pair in params for tensor in pair]
    found = torch.autograd.grad(mse_loss(params, batch), flat)
    return list(zip(found[0::2], found[1::2], strict=True))


def _cloned_not_detached(params: Params, batch: Batch) -> Params:
    copies = [(W.clone().requires_grad_(), b.clone().requires_grad_()) for W, b in params]
    torch.autograd.backward(mse_loss(copies, batch))
    return [(W.grad, b.grad) for W, b in copies]


def _never_backward(params: Params, batch: Batch) -> list[tuple[None, None]]:
    leaves = [(W.detach().requires_grad_(), b.detach().requires_grad_()) for W, b in params]
    mse_loss(leaves, batch)
    return [(W.grad, b.grad) for W, b in leaves]


def _by_hand(params: Params, batch: Batch, through_relu: bool = True) -> Params:
    """Backpropagation without autograd."""
    inputs, targets = batch
    activations = [inputs]
    for W, b in params[:-1]:
        activations.append(relu(activations[-1] @ W + b))
    W, b = params[-1]
    error = 2 * (activations[-1] @ W + b - targets) / targets.numel()
    found: Params = []
    for (W, _), x in zip(reversed(params), reversed(activations), strict=True):
        found.insert(0, ((x.mT @ error).detach(), error.sum(0).detach()))
        error = error @ W.mT
        if through_relu:
            error = error * (x > 0)
    return found


def _functional(params: Params, batch: Batch) -> Any:
    detached = [(W.detach(), b.detach()) for W, b in params]
    return torch.func.grad(mse_loss)(detached, batch)


def _one_at_a_time(params: Params, batch: Batch) -> Params:
    leaves = [(W.clone().detach().requires_grad_(True), b.clone().detach().requires_grad_(True)) for W, b in params]
    loss = mse_loss(leaves, batch)
    return [
        (
            torch.autograd.grad(loss, W, retain_graph=True)[0],
            torch.autograd.grad(loss, b, retain_graph=True)[0],
        )
        for W, b in leaves
    ]


def _in_two_lists(params: Params, batch: Batch) -> list[list[torch.Tensor]]:
    weights = [W.data.clone().requires_grad_() for W, _ in params]
    biases = [b.data.clone().requires_grad_() for _, b in params]
    found = torch.autograd.grad(mse_loss(list(zip(weights, biases, strict=True)), batch), weights + biases)
    return [[found[i], found[i + len(weights)]] for i in range(len(weights))]


def _without_old_gradients(observation: Observation, case: Case) -> Observation:
    """Where the parameters hold old gradients, only that they still do is asked for.

    A deep copy of a tensor brings its gradient along. The contract does not say that parameters hold any, so
    an answer that adds to the copy's gradient is not held to it.
    """
    if "used" in case.tags:
        return {"arguments": observation["arguments"]}
    return observation


LOSS_GRADIENTS = Exercise(
    symbol="loss_gradients",
    points=3,
    cases=_batches,
    references=(loss_gradients,),
    canonical=_without_old_gradients,
    aspects=(
        shape(),
        values(),
        special("a single layer", "single"),
        special("one output", "column", meaning="A network with a single output gives the right gradients too."),
        special("a batch of one", "one"),
        *any_numbers(),
        Aspect(
            "old gradients untouched",
            keys=("arguments",),
            kinds=CONTENT | {"dtype"},
            weight=3.0,
            tags=frozenset({"used"}),
            meaning="Whatever the parameters' .grad held before the call is still there after it.",
        ),
        untouched(weight=5.0),
    ),
    mistakes=(
        Mistake(
            "flat_list",
            lambda params, batch: [t for pair in _right_gradients(params, batch) for t in pair],
            "All the gradients are there, one after the other: dW, db, dW, db. How do you put them back into pairs?",
        ),
        Mistake(
            "pairs_swapped",
            lambda params, batch: [(db, dW) for dW, db in _right_gradients(params, batch)],
            "Your pairs are (db, dW). In which order does params keep W and b?",
        ),
        Mistake(
            "layers_reversed",
            lambda params, batch: _right_gradients(params, batch)[::-1],
            "Your list begins with the last layer. In which order should it be, so that it fits params?",
        ),
        Mistake(
            "weights_only",
            lambda params, batch: [dW for dW, _ in _right_gradients(params, batch)],
            "These are the gradients of the weights. What about the biases?",
            central=True,
        ),
        Mistake(
            "last_layer_only",
            lambda params, batch: _right_gradients(params, batch)[-1:],
            "Only the last layer has a gradient in your list. Does each pass of the loop keep its pair?",
        ),
        Mistake(
            "weights_transposed",
            lambda params, batch: [(dW.T, db) for dW, db in _right_gradients(params, batch)],
            "Each dW is the transpose of what it should be. What shape must it have before you can subtract it from W?",
        ),
        Mistake(
            "of_the_sum",
            _gradients_of(lambda params, batch: ((mlp_predict(params, batch[0]) - batch[1]) ** 2).sum()),
            "These are the gradients of the sum of the squared errors: the right ones, times the number of entries. "
            "What does mse_loss do besides adding up?",
        ),
        Mistake(
            "of_half_the_loss",
            _gradients_of(lambda params, batch: mse_loss(params, batch) / 2),
            "Everything is half as large as it should be. Is there a factor of 1/2 in this course's loss?",
        ),
        Mistake(
            "of_the_predictions",
            _gradients_of(lambda params, batch: mlp_predict(params, batch[0]).sum()),
            "These are the gradients of the sum of the predictions; the targets play no part. Which number should you "
            "differentiate?",
        ),
        Mistake(
            "negated",
            lambda params, batch: [(-dW, -db) for dW, db in _right_gradients(params, batch)],
            "You return the direction that leads downhill. Which way does a gradient itself point, and who turns it "
            "round?",
        ),
        Mistake(
            "relu_ignored",
            lambda params, batch: _by_hand(params, batch, through_relu=False),
            "On the way back you walked through ReLU as if it weren't there. What is its slope where its input is "
            "negative?",
        ),
        Mistake(
            "never_backward",
            _never_backward,
            "Every gradient is None, as it is before anyone calls backward. Which call fills .grad?",
            central=True,
        ),
        Mistake(
            "not_marked",
            _not_marked,
            "It only works when the caller's parameters already require gradients. How can you get copies that do, "
            "and leave the originals alone?",
            central=True,
        ),
        Mistake(
            "flags_switched",
            _flags_switched,
            "The gradients are right, but the caller's parameters now require gradients, and they didn't before. "
            "Which tensors could you switch that on for instead?",
        ),
        Mistake(
            "cloned_not_detached",
            _cloned_not_detached,
            "It fails when the caller's parameters require gradients: a clone of those is not a leaf, so backward "
            "leaves its .grad empty. What cuts a copy off from its history?",
        ),
        Mistake(
            "left_in_grad",
            _left_in_grad,
            "The gradients end up in the .grad of the caller's own parameters, on top of whatever was there before. "
            "Which tensors could you differentiate instead?",
            central=True,
        ),
    ),
    variants={
        "backward on detached copies": _right_gradients,
        "torch.func": _functional,
        "by hand": lambda params, batch: _by_hand([(W.detach(), b.detach()) for W, b in params], batch),
        "one at a time": _one_at_a_time,
        "weights, then biases": _in_two_lists,
        "own loss": _gradients_of(lambda params, batch: ((mlp_predict(params, batch[0]) - batch[1]) ** 2).mean()),
    },
)
