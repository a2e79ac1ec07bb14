"""`sgd_step`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.training import sgd_step
from grader.authoring.aspects import USUAL, any_numbers, shape, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_01.exercises.drawing import Params, draw_params, spread


def _steps(generator: np.random.Generator) -> list[Case]:
    def draw(sizes: list[int], kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {
            "params": draw_params(generator, sizes, kind),
            "gradients": draw_params(generator, sizes, kind),
            "learning_rate": round(float(generator.uniform(0.05, 0.4)), 3),
        }

    four = dims(generator, 4)
    side = int(generator.integers(3, 6))
    apart = draw(dims(generator, 3))
    apart = {**apart, "params": spread(apart["params"]), "gradients": spread(apart["gradients"])}
    return [
        Case("with three layers", draw(four), USUAL),
        Case("where all sizes are equal", draw([side] * 3), USUAL),
        Case("with a large learning rate", {**draw(four[:3]), "learning_rate": 3.0}, USUAL),
        Case("with a single layer", draw(four[:2]), frozenset({"single"})),
        Case("with layers of width one", draw([1, 1, 1]), frozenset({"thin"})),
        Case("with float64", draw(four, torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", apart, frozenset({"strided"})),
    ]


def _stepped(
    rule: Callable[[Any, Any, float], Any],
) -> Callable[[Params, Params, float], list[tuple[Any, Any]]]:
    """A step in which each parameter becomes `rule(parameter, gradient, learning_rate)`."""

    def step(params: Params, gradients: Params, learning_rate: float) -> list[tuple[Any, Any]]:
        return [
            (rule(W, dW, learning_rate), rule(b, db, learning_rate))
            for (W, b), (dW, db) in zip(params, gradients, strict=True)
        ]

    return step


_right_step = _stepped(lambda p, g, rate: p - rate * g)


def _in_place(params: Params, gradients: Params, learning_rate: float) -> Params:
    for (W, b), (dW, db) in zip(params, gradients, strict=True):
        W -= learning_rate * dW
        b -= learning_rate * db
    return params


def _nothing_returned(params: Params, gradients: Params, learning_rate: float) -> None:
    _in_place(params, gradients, learning_rate)


def _list_overwritten(params: Params, gradients: Params, learning_rate: float) -> Params:
    for i, pair in enumerate(_right_step(params, gradients, learning_rate)):
        params[i] = pair
    return params


def _by_optimizer(params: Params, gradients: Params, learning_rate: float) -> list[tuple[Any, ...]]:
    moved = [tuple(torch.nn.Parameter(t.clone()) for t in pair) for pair in params]
    for pair, found in zip(moved, gradients, strict=True):
        for parameter, gradient in zip(pair, found, strict=True):
            parameter.grad = gradient.clone()
    torch.optim.SGD([p for pair in moved for p in pair], lr=learning_rate).step()
    return [tuple(p.detach() for p in pair) for pair in moved]


def _looped(params: Params, gradients: Params, learning_rate: float) -> list[list[torch.Tensor]]:
    result = []
    for i in range(len(params)):
        W, b = params[i][0].clone(), params[i][1].clone()
        W -= gradients[i][0] * learning_rate
        b.sub_(gradients[i][1], alpha=learning_rate)
        result.append([W, b])
    return result


SGD_STEP = Exercise(
    symbol="sgd_step",
    points=1,
    cases=_steps,
    references=(sgd_step,),
    aspects=(
        shape(),
        values(),
        special("a single layer", "single"),
        special("layers of width one", "thin"),
        *any_numbers(),
        untouched("old parameters untouched", weight=6.0),
    ),
    mistakes=(
        Mistake(
            "uphill",
            _stepped(lambda p, g, rate: p + rate * g),
            "Your step climbs. A gradient points to where the loss grows: which way do you want to go?",
            central=True,
        ),
        Mistake(
            "rate_forgotten",
            _stepped(lambda p, g, rate: p - g),
            "You subtracted the whole gradient. What scales it down to a step?",
        ),
        Mistake(
            "divided_by_rate",
            _stepped(lambda p, g, rate: p - g / rate),
            "You divided by the learning rate, so a smaller rate makes a larger step. Should it?",
        ),
        Mistake(
            "rate_on_everything",
            _stepped(lambda p, g, rate: rate * (p - g)),
            "You scaled the parameters by the learning rate as well. Which part of the line is the step?",
        ),
        Mistake(
            "change_only",
            _stepped(lambda p, g, rate: -rate * g),
            "You return the step itself. Where does the step start from?",
        ),
        Mistake(
            "order_of_the_difference",
            _stepped(lambda p, g, rate: rate * g - p),
            "Every entry has the opposite sign. Which of the two is subtracted from which?",
        ),
        Mistake(
            "sign_only",
            _stepped(lambda p, g, rate: p - rate * torch.sign(g)),
            "Every entry moved by the same amount. Shouldn't a steep direction move further than a flat one?",
        ),
        Mistake(
            "biases_left",
            lambda params, gradients, rate: [
                (W - rate * dW, b) for (W, b), (dW, _) in zip(params, gradients, strict=True)
            ],
            "The weights moved and the biases stayed. What is db for?",
            central=True,
        ),
        Mistake(
            "weights_only",
            lambda params, gradients, rate: [W - rate * dW for (W, _), (dW, _) in zip(params, gradients, strict=True)],
            "The weights are there, the biases are gone. What should each entry of the new list hold?",
        ),
        Mistake(
            "flat_list",
            lambda params, gradients, rate: [t for pair in _right_step(params, gradients, rate) for t in pair],
            "The numbers are right, but in one flat list. How do you keep W and b together?",
        ),
        Mistake(
            "first_layer_only",
            lambda params, gradients, rate: _right_step(params, gradients, rate)[:1],
            "Only the first layer came back. Is the return inside the loop?",
        ),
        Mistake(
            "generator_returned",
            lambda params, gradients, rate: (pair for pair in _right_step(params, gradients, rate)),
            "You return a generator, which can be walked through only once. How do you make a list of it?",
        ),
        Mistake(
            "list_overwritten",
            _list_overwritten,
            "You wrote the new pairs into the caller's own list. How can the old list stay as it was?",
            central=True,
        ),
        Mistake(
            "nothing_returned",
            _nothing_returned,
            "You changed the old parameters and returned nothing. What does the caller want to get back, and what to "
            "keep?",
        ),
        Mistake(
            "in_place",
            _in_place,
            "The numbers are right, but the old parameters have moved too. What does -= do to a tensor that somebody "
            "else holds?",
            central=True,
        ),
        Mistake(
            "gradients_scaled_in_place",
            _stepped(lambda p, g, rate: p - g.mul_(rate)),
            "The step is right, but the caller's gradients were scaled on the way. Which operation makes a new tensor "
            "instead?",
        ),
    ),
    variants={
        "comprehension": _right_step,
        "loop over copies": _looped,
        "add with alpha": _stepped(lambda p, g, rate: torch.add(p, g, alpha=-rate)),
        "addcmul": _stepped(lambda p, g, rate: torch.addcmul(p, g, torch.full_like(g, -rate))),
        "lerp": _stepped(lambda p, g, rate: torch.lerp(p, p - g, rate)),
        "an optimizer on copies": _by_optimizer,
        "under no_grad": torch.no_grad()(_right_step),
        "tuples by index": lambda params, gradients, rate: [
            tuple(params[i][j] - rate * gradients[i][j] for j in (0, 1)) for i in range(len(params))
        ],
    },
)
