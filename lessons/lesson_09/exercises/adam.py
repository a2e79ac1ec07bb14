"""`Adam`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course.numpy_transformer.optimisers import Adam
from grader.authoring.aspects import special
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.steps import PLACES, draw_steps, of_optimiser


def _adaptive(generator: np.random.Generator) -> list[Case]:
    wide = draw_steps(generator, 3)
    for step in wide["gradients"]:
        step[0][0, 0] *= 1e4
        step[1][0] *= 1e-4
    return [
        Case.of("after one step", "first", **draw_steps(generator, 1)),
        Case.of("after several steps", **draw_steps(generator, 5)),
        Case.of("on gradients of very different sizes", "sizes", **wide),
        Case.of("with other betas", "options", **draw_steps(generator, 4, betas=(0.7, 0.8))),
        Case.of("with a large eps", "eps", **draw_steps(generator, 3, eps=0.5)),
        Case.of("with float32", "float32", **draw_steps(generator, 3, np.float32)),
    ]


class _Adam(Adam):
    """The same, in steps that mistakes replace."""

    def correct(self, mean: Any, beta: float) -> Any:
        return mean / (1 - beta**self.steps)

    def move(self, m: Any, v: Any) -> Any:
        return m / (np.sqrt(v) + self.eps)

    def square(self, gradient: Any) -> Any:
        return gradient**2

    def count(self) -> None:
        self.steps += 1

    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.count()
        beta1, beta2 = self.betas
        for i, (parameter, gradient) in enumerate(zip(self.parameters, gradients, strict=True)):
            self.means[i] = beta1 * self.means[i] + (1 - beta1) * gradient
            self.squares[i] = beta2 * self.squares[i] + (1 - beta2) * self.square(gradient)
            moved = self.move(self.correct(self.means[i], beta1), self.correct(self.squares[i], beta2))
            parameter -= self.learning_rate * np.asarray(moved, dtype=parameter.dtype)


class _NoCorrection(_Adam):
    def correct(self, mean: Any, beta: float) -> Any:
        return mean


class _CountsFromZero(_Adam):
    def correct(self, mean: Any, beta: float) -> Any:
        return mean / (1 - beta**self.steps) if self.steps else mean

    def count(self) -> None:
        self.steps = getattr(self, "later", -1) + 1
        self.later = self.steps


class _OneForAll(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for place in range(len(gradients)):
            self.count()
            alone = [np.zeros_like(g) for g in gradients]
            alone[place] = gradients[place]
            self._one(place, alone[place])

    def _one(self, i: int, gradient: np.ndarray) -> None:
        beta1, beta2 = self.betas
        self.means[i] = beta1 * self.means[i] + (1 - beta1) * gradient
        self.squares[i] = beta2 * self.squares[i] + (1 - beta2) * gradient**2
        moved = self.move(self.correct(self.means[i], beta1), self.correct(self.squares[i], beta2))
        self.parameters[i] -= self.learning_rate * np.asarray(moved, dtype=self.parameters[i].dtype)


class _NoRoot(_Adam):
    def move(self, m: Any, v: Any) -> Any:
        return m / (v + self.eps)


class _EpsInside(_Adam):
    def move(self, m: Any, v: Any) -> Any:
        return m / np.sqrt(v + self.eps)


class _NotSquared(_Adam):
    def square(self, gradient: Any) -> Any:
        return np.abs(gradient)


class _BetasSwapped(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.betas = self.betas[1], self.betas[0]
        super().step(gradients)
        self.betas = self.betas[1], self.betas[0]


class _BetasFixed(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.betas = 0.9, 0.999
        super().step(gradients)


class _NoMemory(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        for mean in (*self.means, *self.squares):
            mean[...] = 0
        super().step(gradients)


class _AdamNotInPlace(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.parameters = [parameter.copy() for parameter in self.parameters]
        super().step(gradients)


class _AdamUphill(_Adam):
    def move(self, m: Any, v: Any) -> Any:
        return -super().move(m, v)


class _AdamDecays(_Adam):
    def step(self, gradients: Sequence[np.ndarray]) -> None:
        super().step([g + 0.01 * p for g, p in zip(gradients, self.parameters, strict=True)])


class _ByDictionary:
    def __init__(
        self,
        parameters: list[np.ndarray],
        learning_rate: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.params, self.lr, (self.b1, self.b2), self.eps, self.t = parameters, learning_rate, betas, eps, 0
        self.state = {i: (np.zeros_like(p), np.zeros_like(p)) for i, p in enumerate(parameters)}

    def step(self, gradients: list[np.ndarray]) -> None:
        self.t += 1
        for i, g in enumerate(gradients):
            m, v = self.state[i]
            m, v = self.b1 * m + (1 - self.b1) * g, self.b2 * v + (1 - self.b2) * g * g
            self.state[i] = m, v
            root = np.sqrt(v / (1 - self.b2**self.t))
            self.params[i][:] -= self.lr * m / (1 - self.b1**self.t) / (root + self.eps)


class _RateCorrected(_Adam):
    """Both corrections moved into the learning rate and eps, as at the end of the paper's section 2."""

    def step(self, gradients: Sequence[np.ndarray]) -> None:
        self.count()
        beta1, beta2 = self.betas
        root = (1 - beta2**self.steps) ** 0.5
        rate = self.learning_rate * root / (1 - beta1**self.steps)
        for parameter, m, v, gradient in zip(self.parameters, self.means, self.squares, gradients, strict=True):
            m *= beta1
            m += (1 - beta1) * gradient
            v *= beta2
            v += (1 - beta2) * gradient**2
            parameter -= rate * m / (np.sqrt(v) + self.eps * root)


class _InPowers(_Adam):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.powers = [1.0, 1.0]

    def count(self) -> None:
        self.powers = [power * beta for power, beta in zip(self.powers, self.betas, strict=True)]

    def correct(self, mean: Any, beta: float) -> Any:
        return mean / (1 - self.powers[0 if beta == self.betas[0] else 1])


ADAM = Exercise(
    symbol="Adam",
    points=2,
    cases=_adaptive,
    references=(Adam,),
    called={"output": "the parameters after each step"},
    aspects=of_optimiser(
        PLACES,
        special("the first step", "first", 1.0, "The first step already has the right size."),
        special("gradients of any size", "sizes", 0.5, "Huge gradients and tiny ones give steps of the same size."),
        special("other betas", "options", 0.5, "The betas that are passed in are used."),
        special("eps", "eps", 1.0, "eps is added after the root, and the one that is passed in is used."),
    ),
    mistakes=(
        Mistake(
            "no_bias_correction",
            _NoCorrection,
            "Your running means begin at 0 and are used as they are, so the first steps have the wrong size. What "
            "makes up for that?",
            central=True,
        ),
        Mistake(
            "steps_counted_from_zero",
            _CountsFromZero,
            "Your corrections lag a step behind. What is t in the very first step?",
            central=True,
        ),
        Mistake(
            "every_array_counts_a_step",
            _OneForAll,
            "The first array is right, the second is not: t grows with each array. How often does it grow in one call "
            "of step?",
            central=True,
        ),
        Mistake(
            "no_root",
            _NoRoot,
            "You divide by the mean of the squares. What brings a square back to the size of a gradient?",
            central=True,
        ),
        Mistake(
            "eps_inside_the_root",
            _EpsInside,
            "With a large eps your steps are off. Is eps added before the root is taken, or after?",
        ),
        Mistake(
            "not_squared",
            _NotSquared,
            "v gathers the sizes of the gradients. Of what does the docstring take the running mean?",
            central=True,
        ),
        Mistake(
            "betas_swapped",
            _BetasSwapped,
            "The two betas have traded places. Which of them belongs to the squares?",
            central=True,
        ),
        Mistake(
            "betas_fixed",
            _BetasFixed,
            "Right with the usual betas, and only with them. What becomes of those that are passed in?",
        ),
        Mistake(
            "no_memory",
            _NoMemory,
            "Each step forgets the ones before: your means start at 0 again. Where do they live between two calls?",
            central=True,
        ),
        Mistake(
            "not_in_place",
            _AdamNotInPlace,
            "The caller's arrays never change. Which operator changes an array in place?",
            central=True,
        ),
        Mistake("uphill", _AdamUphill, "The parameters go uphill. Which way does a gradient point?", central=True),
        Mistake(
            "weight_decay",
            _AdamDecays,
            "The parameters are drawn towards 0 on the way. Does the docstring ask for weight decay?",
            central=True,
        ),
    ),
    variants={"a dictionary": _ByDictionary, "corrected in the rate": _RateCorrected, "powers kept": _InPowers},
)
