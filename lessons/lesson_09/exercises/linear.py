"""`Linear`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import Linear
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, linear, normal, of_layer, one, sizes_at_first


def _linears(generator: np.random.Generator) -> list[Case]:
    n, length, d_in, d_out = dims(generator, 4, 2, 7)

    def draw(*front: int, sizes: tuple[int, int] = (d_in, d_out), kind: Any = np.float64) -> Inputs:
        return {
            "sizes": list(sizes),
            "weights": linear(generator, "", *sizes, kind),
            "arguments": [normal(generator, *front, sizes[0], dtype=kind)],
            "gradient": normal(generator, *front, sizes[1], dtype=kind),
            "other_arguments": [normal(generator, 2, *front, sizes[0], dtype=kind)],
            "other_gradient": normal(generator, 2, *front, sizes[1], dtype=kind),
        }

    return [
        Case.of("on rows", **draw(n)),
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("with as many outputs as inputs, and as many rows", **draw(d_in, sizes=(d_in, d_in))),
        Case.of("on a batch of one", "one", **draw(1)),
        Case.of("with float32", "float32", **draw(n, length, kind=np.float32)),
        Case.of("when it is new", "new", sizes=[400, 8], begins={"weight": 400**-0.5}),
    ]


class _BatchNotSummed(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.bias_grad = gradient
        self.weight_grad = np.einsum("...i,...o->...io", self.x, gradient)
        return back


class _BiasNotSummed(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.bias_grad = gradient
        return back


class _FirstAxisOnly(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.bias_grad = gradient.sum(axis=0)
        return back


class _MeanOverRows(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        rows = gradient.size / gradient.shape[-1]
        self.weight_grad, self.bias_grad = self.weight_grad / rows, self.bias_grad / rows
        return back


class _Accumulated(Linear):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_in, d_out)
        self.total_weight, self.total_bias = np.zeros((d_in, d_out)), np.zeros(d_out)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.total_weight = (self.total_weight + self.weight_grad).astype(gradient.dtype)
        self.total_bias = (self.total_bias + self.bias_grad).astype(gradient.dtype)
        self.weight_grad, self.bias_grad = self.total_weight, self.total_bias
        return back


class _WeightNotTransposed(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        if self.weight.shape[0] == self.weight.shape[1]:
            return np.asarray(gradient @ self.weight)
        raise ValueError("matmul: the shapes don't fit")


class _GradTransposed(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.weight_grad = self.weight_grad.T
        return back


class _BackThroughInput(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        return np.asarray((gradient - self.bias) @ self.weight.T)


class _NothingReturned(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        return np.asarray(self.weight_grad)


class _AsTorch(Linear):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_out, d_in)
        self.bias = np.zeros(d_out)

    def forward(self, x: np.ndarray) -> np.ndarray:
        if x.shape[-1] != self.weight.shape[-1]:
            raise ValueError("matmul: the shapes don't fit")
        self.x = x
        return np.asarray(x @ self.weight.T + self.bias)


class _Zeros(Linear):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_in, d_out)
        self.weight = np.zeros((d_in, d_out))


class _Large(Linear):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_in, d_out)
        self.weight = np.random.standard_normal((d_in, d_out))


class _AllPositive(Linear):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__(d_in, d_out)
        self.weight = np.random.random((d_in, d_out)) * d_in**-0.5


class _NoBias(Linear):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return np.asarray(x @ self.weight)


class _Stepping(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.weight = self.weight - 0.01 * self.weight_grad
        return back


class _ByEinsum:
    def __init__(self, d_in: int, d_out: int) -> None:
        generator = np.random.default_rng()
        self.weight = generator.uniform(-(d_in**-0.5), d_in**-0.5, size=(d_in, d_out))
        self.bias = np.zeros((d_out,))
        self.weight_grad: Any = None
        self.bias_grad: Any = None

    def forward(self, inputs: np.ndarray) -> Any:
        self.inputs = inputs
        return np.einsum("...i,io->...o", inputs, self.weight) + self.bias

    def backward(self, gradient: np.ndarray) -> Any:
        if gradient.ndim == 2:
            self.weight_grad = np.einsum("ni,no->io", self.inputs, gradient)
        else:
            axes = list(range(gradient.ndim - 1))
            self.weight_grad = np.tensordot(self.inputs, gradient, axes=(axes, axes))
        self.bias_grad = np.sum(gradient, axis=tuple(range(gradient.ndim - 1)))
        return np.einsum("...o,io->...i", gradient, self.weight)


class _RowByRow(Linear):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        self.weight_grad, self.bias_grad = np.zeros_like(self.weight), np.zeros_like(self.bias)
        back = np.empty_like(self.x)
        for place in np.ndindex(gradient.shape[:-1]):
            self.weight_grad += np.outer(self.x[place], gradient[place])
            self.bias_grad += gradient[place]
            back[place] = self.weight @ gradient[place]
        return back


class _CopiesKept(Linear):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x.copy()
        return np.add(np.matmul(x, self.weight), self.bias)


_CENTRAL_SUM = "A weight serves every row, so its gradient gathers from all of them"
LINEAR = Exercise(
    symbol="Linear",
    points=3,
    cases=_linears,
    references=(Linear,),
    called=CALLED,
    aspects=of_layer(one(), one("float32", "float32"), sizes_at_first(), beginning=True),
    mistakes=(
        Mistake(
            "batch_not_summed",
            _BatchNotSummed,
            f"{_CENTRAL_SUM}. Yours still has an axis for the rows: what happens to their shares?",
            central=True,
        ),
        Mistake(
            "bias_not_summed",
            _BiasNotSummed,
            "The gradient of the bias still has a row for each example. One bias serves them all: what becomes of "
            "their shares?",
            central=True,
        ),
        Mistake(
            "bias_summed_over_the_first_axis",
            _FirstAxisOnly,
            "On rows of positions, the gradient of the bias keeps an axis too many. Which axes does one bias serve?",
            central=True,
        ),
        Mistake(
            "mean_over_the_rows",
            _MeanOverRows,
            "You divide by the number of rows. If the loss is a mean, whose gradient has been divided already?",
            central=True,
        ),
        Mistake(
            "accumulated_over_calls",
            _Accumulated,
            "The first backward pass is right. The second still holds the first one's gradients: does backward add to "
            "weight_grad, or set it?",
        ),
        Mistake(
            "weight_not_transposed",
            _WeightNotTransposed,
            "Backward multiplies by the weight as it stands, from d_in to d_out. The gradient goes the other way: how "
            "must the matrix lie?",
            central=True,
        ),
        Mistake(
            "weight_grad_transposed",
            _GradTransposed,
            "Your weight_grad is the transpose of what it should be. What shape must it have before it can be taken "
            "off the weight?",
            central=True,
        ),
        Mistake(
            "bias_taken_off",
            _BackThroughInput,
            "You take the bias off the gradient, as if backward undid forward. How fast does the output change with "
            "the input: does the bias have any part in that?",
            central=True,
        ),
        Mistake(
            "weight_gradient_returned",
            _NothingReturned,
            "Backward returns the weight's gradient. Which gradient does the layer below wait for?",
            central=True,
        ),
        Mistake(
            "laid_out_as_in_torch",
            _AsTorch,
            "Your weight is (d_out, d_in), as PyTorch keeps it. Which shape does the docstring give?",
            central=True,
        ),
        Mistake(
            "begins_with_zeros",
            _Zeros,
            "Every weight begins at 0, so all outputs of the layer are alike, and so are their gradients. What would "
            "ever make them different?",
        ),
        Mistake(
            "begins_too_large",
            _Large,
            "Your weights begin with numbers of size 1. Each output is a sum of d_in products: how large is it "
            "when d_in is 400, and what would bring it back to size 1?",
        ),
        Mistake(
            "begins_above_zero",
            _AllPositive,
            "All of your weights begin above 0, so all the outputs of a layer rise and fall together. Which numbers "
            "are as often negative as positive?",
        ),
        Mistake(
            "bias_forgotten",
            _NoBias,
            "Your forward pass leaves the bias out. Where does it come in?",
            central=True,
        ),
        Mistake(
            "steps_by_itself",
            _Stepping,
            "Backward changes the weight. Whose job is it to take a step?",
        ),
    ),
    variants={
        "einsum and tensordot": _ByEinsum,
        "row by row": _RowByRow,
        "keeps a copy": _CopiesKept,
    },
)
