"""`ReLU`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import ReLU
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, normal, of_layer, one


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
            "any_beginning": True,
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
