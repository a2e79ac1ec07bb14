"""`SGD`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course.numpy_transformer.optimisers import SGD
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.steps import PLACES, draw_steps, of_optimiser


def _descents(generator: np.random.Generator) -> list[Case]:
    return [
        Case.of("after one step", **draw_steps(generator, 1)),
        Case.of("after three steps", **draw_steps(generator, 3)),
        Case.of("with float32", "float32", **draw_steps(generator, 2, np.float32)),
    ]


class _Uphill(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        super().step([-gradient for gradient in gradients])


class _NotInPlace(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.parameters = [p - self.learning_rate * g for p, g in zip(self.parameters, gradients, strict=True)]


class _NoRate(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter -= gradient


class _FirstOnly(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.parameters[0] -= self.learning_rate * gradients[0]


class _Momentum(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.before = [0.9 * b + g for b, g in zip(getattr(self, "before", [0, 0]), gradients, strict=True)]
        super().step([np.asarray(each, dtype=p.dtype) for each, p in zip(self.before, self.parameters, strict=True)])


class _GradientsScaled(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            gradient *= self.learning_rate
            parameter -= gradient


class _SgdBySlices:
    def __init__(self, parameters: list[np.ndarray], learning_rate: float) -> None:
        self.params = parameters
        self.lr = learning_rate

    def step(self, gradients: list[np.ndarray]) -> None:
        for i in range(len(self.params)):
            self.params[i][...] = self.params[i] - self.lr * gradients[i]


class _SgdSubtract(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            np.subtract(parameter, self.learning_rate * gradient, out=parameter)


class _SgdAdd(SGD):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter += -self.learning_rate * gradient


SGD_EXERCISE = Exercise(
    symbol="SGD",
    points=1,
    cases=_descents,
    references=(SGD,),
    called={"output": "the parameters after each step"},
    aspects=of_optimiser(PLACES),
    mistakes=(
        Mistake("uphill", _Uphill, "The parameters go uphill. Which way does a gradient point?", central=True),
        Mistake(
            "not_in_place",
            _NotInPlace,
            "The caller's arrays never change: you make new ones and keep them to yourself. Which operator changes an "
            "array in place?",
            central=True,
        ),
        Mistake(
            "no_learning_rate",
            _NoRate,
            "You take off the whole gradient. What scales the step?",
            central=True,
        ),
        Mistake(
            "first_parameter_only",
            _FirstOnly,
            "Only the first array moves. How many are there?",
            central=True,
        ),
        Mistake(
            "momentum",
            _Momentum,
            "The first step is right. Later ones still remember earlier gradients: does this docstring mention a "
            "memory?",
            central=True,
        ),
        Mistake(
            "gradients_changed",
            _GradientsScaled,
            "The steps are right, but the caller's gradients have been scaled. What does *= do to an array that "
            "somebody else uses too?",
        ),
    ),
    variants={"slices": _SgdBySlices, "np.subtract": _SgdSubtract, "adds the negative": _SgdAdd},
)
