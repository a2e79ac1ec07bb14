"""`l2_penalty`: cases, mistakes and variants."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import torch

from course.mlp import l2_penalty
from grader.authoring.aspects import USUAL, any_numbers, gradients, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_01.exercises.drawing import Params, draw_params, spread
from lessons.lesson_01.exercises.loss import number, one_number


def _weights(generator: np.random.Generator) -> list[Case]:
    def draw(sizes: list[int], kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"params": draw_params(generator, sizes, kind)}

    sizes = dims(generator, 5)
    side = int(generator.integers(3, 6))
    return [
        Case("with two layers", draw(sizes[:3]), USUAL),
        Case("with four layers", draw(sizes), USUAL),
        Case("where all sizes are equal", draw([side] * 4), USUAL),
        Case("with a single layer", draw(sizes[3:]), frozenset({"single"})),
        Case("with layers of width one", draw([1, sizes[0], 1]), frozenset({"thin"})),
        Case("with float64", draw(sizes[1:4], torch.float64), frozenset({"float64"})),
        Case(
            "with tensors that are not contiguous",
            {"params": spread(draw_params(generator, sizes[:3]))},
            frozenset({"strided"}),
        ),
    ]


def _from_a_vector_of_zeros(params: Params) -> torch.Tensor:
    total = torch.zeros(1, dtype=params[0][0].dtype)
    for W, _ in params:
        total = total + (W**2).sum()
    return total


L2_PENALTY = Exercise(
    symbol="l2_penalty",
    points=1,
    cases=_weights,
    references=(l2_penalty,),
    canonical=one_number,
    aspects=(
        number(),
        values(),
        gradients(6.0),
        special("a single layer", "single"),
        special("layers of width one", "thin"),
        *any_numbers(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "biases_too",
            lambda params: sum((W**2).sum() + (b**2).sum() for W, b in params),
            "Your sum includes the biases. A bias only shifts the function: which of the two makes it steep?",
            central=True,
        ),
        Mistake(
            "biases_only",
            lambda params: sum((b**2).sum() for _, b in params),
            "You summed the squared biases. Which member of a pair is W?",
        ),
        Mistake(
            "not_squared",
            lambda params: sum(W.sum() for W, _ in params),
            "You added the weights themselves, so positive and negative ones cancel. What makes every one of them "
            "count?",
            central=True,
        ),
        Mistake(
            "absolute_values",
            lambda params: sum(W.abs().sum() for W, _ in params),
            "You added the absolute values: that is the L1 penalty. What does the 2 in L2 stand for?",
        ),
        Mistake(
            "root_taken",
            lambda params: sum((W**2).sum() for W, _ in params).sqrt(),
            "Your result is the length of all weights as one vector. Is a root part of the penalty?",
        ),
        Mistake(
            "norms_added",
            lambda params: sum(W.norm() for W, _ in params),
            "You added the norm of each layer's weights, and a norm ends with a root. What is under it?",
        ),
        Mistake(
            "halved",
            lambda params: sum((W**2).sum() for W, _ in params) / 2,
            "Your result is half of the penalty. Some books put 1/2 in front: does this course?",
        ),
        Mistake(
            "means_added",
            lambda params: sum((W**2).mean() for W, _ in params),
            "You took the mean of each layer's squares. Shouldn't a large layer weigh more than a small one?",
        ),
        Mistake(
            "averaged_over_layers",
            lambda params: sum((W**2).sum() for W, _ in params) / len(params),
            "You divided by the number of layers. Does the docstring ask for a sum or a mean?",
        ),
        Mistake(
            "sum_squared",
            lambda params: sum(W.sum() ** 2 for W, _ in params),
            "You squared the sum of each layer, so its weights cancelled first. Which comes first, the square or the "
            "sum?",
        ),
        Mistake(
            "matrix_product",
            lambda params: sum((W @ W).sum() for W, _ in params),
            "You multiplied W by itself as a matrix. How do you square each entry on its own?",
        ),
        Mistake(
            "last_layer_only",
            lambda params: (params[-1][0] ** 2).sum(),
            "Your result only counts the last layer. Does each pass of the loop add to the total, or replace it?",
        ),
        Mistake(
            "first_layer_only",
            lambda params: (params[0][0] ** 2).sum(),
            "Your result only counts the first layer. Is the return inside the loop?",
        ),
        Mistake(
            "last_layer_left_out",
            lambda params: sum(((W**2).sum() for W, _ in params[:-1]), torch.zeros(())),
            "The last layer is missing. It has no ReLU, but it has weights: do they count?",
        ),
        Mistake(
            "one_number_a_layer",
            lambda params: [(W**2).sum() for W, _ in params],
            "You have one number for each layer. How do you turn them into one?",
        ),
        Mistake(
            "from_a_vector_of_zeros",
            _from_a_vector_of_zeros,
            "Your result has an axis of length one, because your total started with one. What shape does a single "
            "number have?",
        ),
        Mistake(
            "plain_number",
            lambda params: sum((W**2).sum().item() for W, _ in params),
            "The value is right, but a plain number has no graph behind it, so no weight would ever feel the penalty. "
            "Which call turned the tensor into a number?",
            central=True,
        ),
        Mistake(
            "made_float32",
            lambda params: sum((W.float() ** 2).sum() for W, _ in params),
            "With float64 weights the result comes back as float32. Which call changes the dtype?",
        ),
        Mistake(
            "graph_cut",
            lambda params: sum((W.detach() ** 2).sum() for W, _ in params),
            "The value is right, but no gradient flows back to the weights, so none would ever feel the penalty. What "
            "cuts the graph: a detach, .data, or no_grad?",
            central=True,
        ),
    ),
    variants={
        "sum of a generator": lambda params: sum((W**2).sum() for W, _ in params),
        "pow and stack": lambda params: torch.stack([W.pow(2).sum() for W, _ in params]).sum(),
        "norms squared": lambda params: sum(torch.linalg.matrix_norm(W) ** 2 for W, _ in params),
        "one long vector": lambda params: torch.cat([pair[0].flatten() for pair in params]).square().sum(),
        "trace": lambda params: sum(torch.trace(W.T @ W) for W, b in params),
        "dot product": lambda params: sum(torch.dot(W.reshape(-1), W.reshape(-1)) for W, _ in params),
        "einsum": lambda params: sum(torch.einsum("io,io->", W, W) for W, _ in params),
        "reduce from zero": lambda params: reduce(lambda total, p: total + (p[0] * p[0]).sum(), params, 0.0),
        "zeros without axes": lambda params: sum(((W * W).sum() for W, _ in params), torch.zeros(())),
    },
)
