"""Networks and batches, drawn so that every mistake shows. Never travels: it knows the right prediction.

They are drawn with NumPy, so that its exercises need no PyTorch, and become tensors where an exercise wants some.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from cellcheck.authoring import Case, aspects
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, to_tensors
from transformer_course.mlp_numpy import mlp_predict_numpy

Float = type[np.float32] | type[np.float64]
Params = list[tuple[np.ndarray, np.ndarray]]  # [(W, b), ...]


def draw_arrays(
    generator: np.random.Generator, sizes: list[int], n: int, dtype: Float = np.float32, far: bool = True
) -> dict[str, Any]:
    """`params`, and `inputs` (n, sizes[0]) with which a ReLU in the wrong place shows; if `far`, a ReLU6 too."""

    def normal(*shape: int) -> np.ndarray:
        return generator.standard_normal(shape).astype(dtype)

    while True:
        params = [(normal(d_in, d_out), normal(d_out)) for d_in, d_out in pairwise(sizes)]
        inputs = (4 if far else 1) * normal(n, sizes[0])
        if _telling(params, inputs, far):
            return {"params": params, "inputs": inputs}


def draw_batch_of_arrays(
    generator: np.random.Generator, sizes: list[int], n: int, dtype: Float = np.float32
) -> dict[str, Any]:
    """`params` as `draw_arrays` has them, and `batch`: inputs (n, sizes[0]) and targets (n, sizes[-1]).

    Some gradient of the loss is larger than 1, so that clipping shows, and the errors' mean isn't 0: their variance
    is another number than the loss.
    """
    while True:
        network = draw_arrays(generator, sizes, n, dtype, far=False)  # of large losses, other slips are a small part
        params, inputs = network["params"], network["inputs"]
        targets = generator.standard_normal((n, sizes[-1])).astype(dtype)
        errors = mlp_predict_numpy(params, inputs) - targets
        slopes = 2 * errors.sum(axis=0) / errors.size  # of the last biases
        if np.abs(slopes).max() > 1.1 and np.abs(errors.mean()) > 0.2:
            return {"params": params, "batch": (inputs, targets)}


def draw_network(generator: np.random.Generator, sizes: list[int], n: int, dtype: Float = np.float32) -> dict[str, Any]:
    """As `draw_arrays`, in tensors."""
    return dict(to_tensors(draw_arrays(generator, sizes, n, dtype)))


def draw_batch(generator: np.random.Generator, sizes: list[int], n: int, dtype: Float = np.float32) -> dict[str, Any]:
    """As `draw_batch_of_arrays`, in tensors."""
    return dict(to_tensors(draw_batch_of_arrays(generator, sizes, n, dtype)))


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
            Case.of("on a batch of one", aspects.BATCH_OF_ONE, **drawn(self.four[:4], 1)),
        ]


def _telling(params: Params, inputs: np.ndarray, far: bool) -> bool:
    """A ReLU too many or too few shows, and rounding cannot flip the sign of a pre-activation."""
    right = mlp_predict_numpy(params, inputs)
    capped = inputs
    for W, b in params[:-1]:
        capped = (capped @ W + b).clip(0, 6)
    wrong = [right.clip(0), mlp_predict_numpy(params, inputs.clip(0))]
    if far and len(params) > 1:
        wrong.append(mlp_predict_numpy(params[-1:], capped))
    x = inputs
    for i, (W, b) in enumerate(params[:-1]):
        before = x @ W + b
        x = before.clip(0)
        if np.abs(before).min() < 1e-3 or not (x > 0.1).any():  # rounding, or a dead layer
            return False
        wrong.append(mlp_predict_numpy(params[i + 1 :], before))
    return all(np.abs(right - other).max() > 0.05 for other in wrong)
