"""`Linear`, `ReLU` and `Embedding`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import Embedding, Linear, ReLU
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, linear, normal, of_layer, one


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
    aspects=of_layer(one(), one("float32", "float32"), beginning=True),
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


def _relus(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 3, 7)

    def draw(*shape: int, kind: Any = np.float64) -> Inputs:
        def mixed() -> np.ndarray:
            numbers = normal(generator, *shape, dtype=kind)
            numbers.flat[0], numbers.flat[1] = 1.5, -1.5  # some of each kind, in every draw
            return numbers

        return {
            "sizes": [],
            "weights": {},
            "arguments": [mixed()],
            "gradient": mixed()[..., ::-1].copy(),
            "other_arguments": [-mixed()],
            "other_gradient": mixed(),
        }

    return [
        Case.of("on a matrix", **draw(n, d)),
        Case.of("on three axes", **draw(n, length, d)),
        Case.of("on a batch of one", "one", **draw(1, d)),
        Case.of("with float32", "float32", **draw(n, d, kind=np.float32)),
    ]


class _GradientItself(ReLU):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return gradient.copy()


class _GradientsSign(ReLU):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(gradient, 0))


class _MaskAlone(ReLU):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return self.positive.astype(gradient.dtype)


class _MaskTurned(ReLU):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.where(self.positive, np.zeros_like(gradient), gradient)


class _TimesX(ReLU):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.asarray(gradient * np.maximum(self.x, 0))

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return super().forward(x)


class _InPlace(ReLU):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.positive = x > 0
        x[x < 0] = 0
        return x


class _Leaky(ReLU):
    def forward(self, x: np.ndarray) -> np.ndarray:
        super().forward(x)
        return np.where(self.positive, x, (0.01 * x).astype(x.dtype))


class _Absolute(ReLU):
    def forward(self, x: np.ndarray) -> np.ndarray:
        super().forward(x)
        return np.asarray(np.abs(x))


class _FirstMask(ReLU):
    def forward(self, x: np.ndarray) -> np.ndarray:
        if not hasattr(self, "positive"):
            self.positive = x > 0
        return np.asarray(np.maximum(x, 0))


class _ByMultiplying:
    def forward(self, x: np.ndarray) -> Any:
        self.slope = (x > 0).astype(x.dtype)
        return x * self.slope

    def backward(self, gradient: np.ndarray) -> Any:
        return gradient * self.slope


class _ByOutput:
    def forward(self, x: np.ndarray) -> Any:
        self.out = x.clip(min=0)
        return self.out

    def backward(self, gradient: np.ndarray) -> Any:
        result = gradient.copy()
        result[self.out == 0] = 0
        return result


class _BySign:
    def __init__(self) -> None:
        self.cache: list[np.ndarray] = []

    def forward(self, x: np.ndarray) -> Any:
        self.cache = [x]
        return (x + np.abs(x)) / 2

    def backward(self, gradient: np.ndarray) -> Any:
        return gradient * np.heaviside(self.cache[0], 0)


RELU = Exercise(
    symbol="ReLU",
    points=1,
    cases=_relus,
    references=(ReLU,),
    called=CALLED,
    aspects=of_layer(one(), one("float32", "float32"), weights=False, parts=False, forward=1.5),
    mistakes=(
        Mistake(
            "gradient_passed_on",
            _GradientItself,
            "The whole gradient comes back. Where the input was negative, does a small change of it change anything?",
            central=True,
        ),
        Mistake(
            "relu_of_the_gradient",
            _GradientsSign,
            "You cut off the negative gradients. Which numbers decide what passes: the gradients, or the inputs?",
            central=True,
        ),
        Mistake(
            "slopes_alone",
            _MaskAlone,
            "These are the slopes, 0 or 1. What does the chain rule multiply them by?",
            central=True,
        ),
        Mistake(
            "the_wrong_half",
            _MaskTurned,
            "Gradients come through where nothing came forward, and the other way round. Which half had the slope 1?",
            central=True,
        ),
        Mistake(
            "multiplied_by_the_output",
            _TimesX,
            "You multiply the gradient by what came out. How steep is the line y = x at x = 3?",
            central=True,
        ),
        Mistake(
            "changed_in_place",
            _InPlace,
            "The caller's x has lost its negative numbers, and a residual connection may still need them. How do you "
            "make a new array?",
        ),
        Mistake(
            "leaky",
            _Leaky,
            "A little of each negative number comes through. What does a plain ReLU make of -2?",
            central=True,
        ),
        Mistake(
            "absolute_value",
            _Absolute,
            "You return the absolute values. What does a ReLU make of -2?",
            central=True,
        ),
        Mistake(
            "first_input_remembered",
            _FirstMask,
            "The second backward pass still goes by the first input. When do you remember which numbers were positive?",
        ),
    ),
    variants={
        "by multiplying": _ByMultiplying,
        "by what came out": _ByOutput,
        "by absolute values": _BySign,
    },
)


def _tables(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 2, 6)
    vocab = 9

    def draw(*shape: int, kind: Any = np.float64, alike: bool = True) -> Inputs:
        def ids() -> np.ndarray:
            drawn = generator.integers(0, vocab - 1, shape)
            if alike:
                drawn.flat[0] = drawn.flat[-1] = 3  # an id that comes twice, in every draw
            return drawn

        return {
            "sizes": [vocab, d],
            "weights": {"weight": normal(generator, vocab, d, dtype=kind)},
            "arguments": [ids()],
            "gradient": normal(generator, *shape, d, dtype=kind),
            "other_arguments": [ids()],
            "other_gradient": normal(generator, *shape, d, dtype=kind),
        }

    return [
        Case.of("on rows of ids", **draw(n, length)),
        Case.of("on a single row of ids", **draw(length + 2)),
        Case.of("on a batch of one", "one", **draw(1, length)),
        Case.of("with float32", "float32", **draw(n, length, kind=np.float32)),
    ]


class _LastOccurrence(Embedding):
    def backward(self, gradient: np.ndarray) -> None:
        self.weight_grad = np.zeros_like(self.weight)
        self.weight_grad[self.tokens] = gradient


class _MeanOfOccurrences(Embedding):
    def backward(self, gradient: np.ndarray) -> None:
        super().backward(gradient)
        counts = np.bincount(self.tokens.ravel(), minlength=len(self.weight))
        self.weight_grad /= np.maximum(counts, 1)[:, None].astype(self.weight.dtype)


class _KeptFromBefore(Embedding):
    def backward(self, gradient: np.ndarray) -> None:
        before = getattr(self, "weight_grad", np.zeros_like(self.weight))
        super().backward(gradient)
        self.weight_grad = self.weight_grad + before


class _RowsOnly(Embedding):
    def backward(self, gradient: np.ndarray) -> None:
        self.weight_grad = gradient


class _Scaled(Embedding):
    def forward(self, tokens: np.ndarray) -> np.ndarray:
        return np.asarray(super().forward(tokens) * self.weight.shape[1] ** 0.5)


class _Returned(Embedding):
    def backward(self, gradient: np.ndarray) -> Any:
        super().backward(gradient)
        return gradient


class _ZeroTable(Embedding):
    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(vocab_size, d_model)
        self.weight = np.zeros((vocab_size, d_model))


class _OneHot:
    def __init__(self, vocab_size: int, d_model: int) -> None:
        self.weight = np.random.default_rng(0).normal(scale=0.02, size=(vocab_size, d_model))

    def forward(self, tokens: np.ndarray) -> Any:
        self.one_hot = np.eye(len(self.weight), dtype=self.weight.dtype)[tokens]
        return self.one_hot @ self.weight

    def backward(self, gradient: np.ndarray) -> None:
        flat = self.one_hot.reshape(-1, self.one_hot.shape[-1])
        self.weight_grad = flat.T @ gradient.reshape(-1, gradient.shape[-1])


class _IdById(Embedding):
    def forward(self, tokens: np.ndarray) -> np.ndarray:
        self.tokens = tokens.copy()
        return np.take(self.weight, tokens, axis=0)

    def backward(self, gradient: np.ndarray) -> None:
        self.weight_grad = np.stack([gradient[self.tokens == i].sum(axis=0) for i in range(len(self.weight))])


class _Looping(Embedding):
    def backward(self, gradient: np.ndarray) -> None:
        self.weight_grad = np.zeros(self.weight.shape, dtype=self.weight.dtype)
        for place in np.ndindex(self.tokens.shape):
            self.weight_grad[self.tokens[place]] += gradient[place]


EMBEDDING = Exercise(
    symbol="Embedding",
    points=2,
    cases=_tables,
    references=(Embedding,),
    called=CALLED,
    aspects=of_layer(one(), one("float32", "float32"), beginning=True, returns=False, forward=1.5),
    mistakes=(
        Mistake(
            "last_occurrence_wins",
            _LastOccurrence,
            "Where an id comes twice, only its last occurrence counts. A row that served twice owes its gradient to "
            "both: what do you do with the two?",
            central=True,
        ),
        Mistake(
            "mean_of_the_occurrences",
            _MeanOfOccurrences,
            "An id that comes twice gets the mean of both gradients. If its row moves a little, do the two changes of "
            "the loss average, or add up?",
            central=True,
        ),
        Mistake(
            "kept_from_the_call_before",
            _KeptFromBefore,
            "The second pass still holds the gradients of the first. Where does weight_grad start again?",
        ),
        Mistake(
            "gradient_stored_as_it_came",
            _RowsOnly,
            "weight_grad is the incoming gradient, with a row for each position. What shape has the table, and which "
            "row does each position belong to?",
            central=True,
        ),
        Mistake(
            "scaled",
            _Scaled,
            "Your rows are multiplied by the root of d_model, as in lesson 4. What does this docstring say about that?",
            central=True,
        ),
        Mistake(
            "gradient_returned",
            _Returned,
            "Backward returns a gradient. With respect to what? Can an id move a little?",
        ),
        Mistake(
            "begins_with_zeros",
            _ZeroTable,
            "Every row of the table begins at 0, so all ids look alike. What would tell them apart?",
        ),
    ),
    variants={
        "one-hot rows": _OneHot,
        "id by id": _IdById,
        "position by position": _Looping,
    },
)
