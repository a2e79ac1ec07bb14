"""`Embedding`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import Embedding
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, normal, of_layer, one, sizes_at_first


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
        Case.of("when it is new", "new", sizes=[80, 80], begins={"weight": 0.1}),
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


class _LargeTable(Embedding):
    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(vocab_size, d_model)
        self.weight = np.random.standard_normal((vocab_size, d_model))


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
    aspects=of_layer(one(), one("float32", "float32"), sizes_at_first(), beginning=True, returns=False, forward=1.5),
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
        Mistake(
            "begins_too_large",
            _LargeTable,
            "Your table begins with numbers of size 1. Which size does the docstring give?",
        ),
    ),
    variants={
        "one-hot rows": _OneHot,
        "id by id": _IdById,
        "position by position": _Looping,
    },
)
