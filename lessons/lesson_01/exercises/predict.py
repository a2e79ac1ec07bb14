"""`mlp_predict_numpy` and `mlp_predict`: cases, mistakes and variants."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.mlp import mlp_predict
from course.mlp_numpy import mlp_predict_numpy
from grader.authoring.aspects import any_numbers, dtype, gradients, shape, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_01.exercises.drawing import NetworkSizes, Params, draw_network, forward, spread, to_numpy
from lessons.lesson_01.exercises.forward import FORWARD_MISTAKES, all_but_the_last, bent_otherwise, with_activation


def _networks(generator: np.random.Generator) -> list[Case]:
    sizes = NetworkSizes(generator)
    apart = draw_network(generator, dims(generator, 3, 3, 7), 4)
    apart = {
        "params": spread(apart["params"]),
        "inputs": strided(apart["inputs"]),
    }
    return [
        *sizes.cases(partial(draw_network, generator)),
        Case("with float64", draw_network(generator, sizes.two, sizes.n, torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", apart, frozenset({"strided"})),
    ]


def _numpy_networks(generator: np.random.Generator) -> list[Case]:
    """The same in NumPy, where float64 is the usual thing and float32 the one to keep."""
    sizes = NetworkSizes(generator)

    def draw(widths: list[int], rows: int, kind: torch.dtype = torch.float64) -> Any:
        return to_numpy(draw_network(generator, widths, rows, kind))

    return [
        *sizes.cases(draw),
        Case("with float32", draw(sizes.two, sizes.n, torch.float32), frozenset({"float32"})),
    ]


def _numpy_recursive(params: Params, inputs: Any) -> Any:
    (W, b), *rest = params
    x = inputs @ W + b
    return _numpy_recursive(rest, np.maximum(0, x)) if rest else x


def _numpy_indexed(params: Params, inputs: Any) -> Any:
    x = inputs.copy()
    for i in range(len(params)):
        x = np.dot(x, params[i][0])
        x += params[i][1]
        if i != len(params) - 1:
            x[x < 0] = 0
    return x


MLP_PREDICT_NUMPY = Exercise(
    symbol="mlp_predict_numpy",
    points=2,
    cases=_numpy_networks,
    references=(mlp_predict_numpy,),
    aspects=(
        shape(),
        values(),
        special("a single layer", "single"),
        special("a batch of one", "one"),
        dtype(),
        special("float32", "float32"),
        untouched(),
    ),
    mistakes=(
        *FORWARD_MISTAKES,
        *bent_otherwise(np.tanh, lambda x: 1 / (1 + np.exp(-x))),
        Mistake(
            "made_float64",
            lambda params, inputs: forward(params, inputs).astype(np.float64),
            "With float32 arrays the result comes back as float64. Which line makes a new array, and what dtype does "
            "it choose?",
        ),
    ),
    variants={
        "where": with_activation(lambda x: np.where(x > 0, x, 0)),
        "times a mask": with_activation(lambda x: x * (x > 0)),
        "clip": with_activation(lambda x: np.clip(x, 0, None)),
        "index and in place": _numpy_indexed,
        "recursive": _numpy_recursive,
        "half of x and its size": with_activation(lambda x: (x + np.abs(x)) / 2),
        "einsum": lambda params, inputs: (
            np.einsum("ni,io->no", all_but_the_last(params, inputs), params[-1][0]) + params[-1][1]
        ),
        "relu before all but the first": lambda params, inputs: reduce(
            lambda x, pair: np.maximum(x, 0) @ pair[0] + pair[1],
            params[1:],
            inputs @ params[0][0] + params[0][1],
        ),
    },
)


def _tensor_loop(params: Params, inputs: torch.Tensor) -> torch.Tensor:
    x = inputs
    for i, (W, b) in enumerate(params):
        x = torch.addmm(b, x, W)
        if i < len(params) - 1:
            x = x.clamp(min=0)
    return x


MLP_PREDICT = Exercise(
    symbol="mlp_predict",
    points=2,
    cases=_networks,
    references=(mlp_predict,),
    aspects=(
        shape(),
        values(),
        gradients(),
        special("a single layer", "single"),
        special("a batch of one", "one"),
        *any_numbers(),
        untouched(),
    ),
    mistakes=(
        *FORWARD_MISTAKES,
        *bent_otherwise(torch.tanh, torch.sigmoid),
        Mistake(
            "made_float32",
            lambda params, inputs: forward([(W.float(), b.float()) for W, b in params], inputs.float()),
            "With float64 tensors the result comes back as float32. Which call changes the dtype?",
        ),
        Mistake(
            "graph_cut",
            torch.no_grad()(forward),
            "The numbers are right, but no gradient flows back to the parameters, so nothing could be trained. What "
            "cuts the graph: a detach, .data, NumPy, or no_grad?",
        ),
    ),
    variants={
        "relu": with_activation(F.relu),
        "relu in place on its own product": with_activation(torch.relu_),
        "maximum": with_activation(lambda x: torch.maximum(x, torch.zeros_like(x))),
        "where": with_activation(lambda x: torch.where(x > 0, x, 0.0)),
        "times a mask": forward,
        "addmm and clamp": _tensor_loop,
        "linear": lambda params, inputs: F.linear(
            reduce(lambda x, pair: F.linear(x, pair[0].T, pair[1]).relu(), params[:-1], inputs),
            params[-1][0].T,
            params[-1][1],
        ),
        "einsum": lambda params, inputs: (
            torch.einsum("ni,io->no", all_but_the_last(params, inputs), params[-1][0]) + params[-1][1]
        ),
    },
)
