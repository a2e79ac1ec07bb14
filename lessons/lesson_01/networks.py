"""Networks and batches, drawn so that every mistake shows. Never travels: it knows the right prediction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.mlp import mlp_predict
from grader.authoring.aspects import BATCH_OF_ONE
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case
from lessons.lesson_01.drawing import SINGLE_LAYER, Params, draw_params


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
    """`params` as `draw_network` has them, and `batch`: inputs (n, sizes[0]) and targets (n, sizes[-1])."""
    network = draw_network(generator, sizes, n, dtype)
    targets = normal(generator, n, sizes[-1], dtype=dtype)
    return {"params": network["params"], "batch": (network["inputs"], targets)}


class NetworkSizes:
    """Sizes of the networks that every exercise on a forward pass is tried on."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.n, *self.two = dims(generator, 4, 2, 8)
        self.m, *self.four = dims(generator, 6, 3, 9)
        self.side = int(generator.integers(3, 6))
        self.width = int(generator.integers(3, 6))

    def cases(self, drawn: Callable[[list[int], int], dict[str, Any]]) -> list[Case]:
        """The cases in the usual dtype; `drawn(sizes, n)` makes the inputs of each."""
        return [
            Case.of("with two layers", **drawn(self.two, self.n)),
            Case.of("with four layers", **drawn(self.four, self.m)),
            Case.of("where all sizes are equal", **drawn([self.side] * 4, self.side)),
            Case.of("with one input and one output", **drawn([1, self.width, 1], 6)),
            Case.of("with a single layer", SINGLE_LAYER, **drawn(self.two[:2], self.n)),
            Case.of("on a batch of one", BATCH_OF_ONE, **drawn(self.four[:4], 1)),
        ]


def _telling(params: Params, inputs: torch.Tensor) -> bool:
    """A ReLU too many or too few shows, and rounding cannot flip the sign of a pre-activation."""
    right = mlp_predict(params, inputs)
    wrong = [right.relu(), mlp_predict(params, inputs.relu())]
    x = inputs
    for i, (W, b) in enumerate(params[:-1]):
        before = x @ W + b
        x = before.relu()
        if float(before.abs().min()) < 1e-3 or not bool((x > 0.1).any()):  # rounding, or a dead layer
            return False
        wrong.append(mlp_predict(params[i + 1 :], before))
    return all(float((right - other).abs().max()) > 0.05 for other in wrong)
