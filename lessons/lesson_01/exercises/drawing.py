"""Networks and batches, drawn so that every mistake shows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import USUAL
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, tagged

Params = list[tuple[Any, Any]]  # [(W, b), ...]; tensors or NumPy arrays


def draw_params(
    generator: np.random.Generator, sizes: list[int], dtype: torch.dtype = torch.float32
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """[(W, b), ...] for layers of these sizes, all standard normal."""
    return [
        (normal(generator, d_in, d_out, dtype=dtype), normal(generator, d_out, dtype=dtype))
        for d_in, d_out in pairwise(sizes)
    ]


def draw_network(
    generator: np.random.Generator, sizes: list[int], n: int, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """`params`, and `inputs` (n, sizes[0]) with which a ReLU in the wrong place shows."""
    while True:
        params = draw_params(generator, sizes, dtype)
        inputs = normal(generator, n, sizes[0], dtype=dtype)
        if _telling(params, inputs):
            return {"params": params, "inputs": inputs}


def draw_batch(
    generator: np.random.Generator, sizes: list[int], n: int, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """As `draw_network`, and `targets` (n, sizes[-1])."""
    network = draw_network(generator, sizes, n, dtype)
    return {**network, "targets": normal(generator, n, sizes[-1], dtype=dtype)}


class NetworkSizes:
    """Sizes of the networks that every exercise on a forward pass is tried on."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.n, *self.two = dims(generator, 4, 2, 8)
        self.m, *self.four = dims(generator, 6, 3, 9)
        self.side = int(generator.integers(3, 6))
        self.width = int(generator.integers(3, 6))

    def cases(self, draw: Callable[[list[int], int], dict[str, Any]]) -> list[Case]:
        """The cases in the usual dtype; `draw(sizes, n)` makes the inputs of each."""
        return [
            Case("with two layers", draw(self.two, self.n), USUAL),
            Case("with four layers", draw(self.four, self.m), USUAL),
            Case("where all sizes are equal", draw([self.side] * 4, self.side), USUAL),
            Case("with one input and one output", draw([1, self.width, 1], 6), USUAL),
            Case("with a single layer", draw(self.two[:2], self.n), tagged("single")),
            Case("on a batch of one", draw(self.four[:4], 1), tagged("one")),
        ]


def spread(params: Params) -> Params:
    """The same parameters, none of them contiguous."""
    return [(strided(W), strided(b)) for W, b in params]


def to_numpy(value: Any) -> Any:
    """The same data with NumPy arrays for tensors."""
    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {name: to_numpy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(to_numpy(item) for item in value)
    return value


def forward(params: Params, inputs: Any) -> Any:
    """The right prediction, for arrays and tensors alike: mistakes are made out of it."""
    x = inputs
    for W, b in params[:-1]:
        x = relu(x @ W + b)
    W, b = params[-1]
    return x @ W + b


def relu(x: Any) -> Any:
    """For arrays and tensors alike."""
    return x * (x > 0)


def _telling(params: list[tuple[torch.Tensor, torch.Tensor]], inputs: torch.Tensor) -> bool:
    """A ReLU too many or too few shows, and rounding cannot flip the sign of a pre-activation."""
    right = forward(params, inputs)
    wrong = [relu(right), forward(params, relu(inputs))]
    x = inputs
    for i, (W, b) in enumerate(params[:-1]):
        before = x @ W + b
        x = relu(before)
        if float(before.abs().min()) < 1e-3 or not bool((x > 0.1).any()):  # rounding, or a dead layer
            return False
        wrong.append(forward(params[i + 1 :], before))
    return all(float((right - other).abs().max()) > 0.05 for other in wrong)
