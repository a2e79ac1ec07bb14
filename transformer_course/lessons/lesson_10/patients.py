"""What `can_overfit` is tried on: small models and real training steps, sound and broken.

The gradients are written out, in NumPy: hundreds of steps of eight rows would take PyTorch twenty times as long, most
of it for its own book-keeping. A patient's losses don't depend on who asks, so each is trained once, and no further
than somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.patients import Patient

MOST_STEPS = 420  # more than 300, for a test that asks too long
AT_ONCE = 60  # losses in one answer: each question costs time


class Trained:
    """Training that works: a network of two layers learns eight rows by heart, with Adam."""

    rate, classes, width = 0.02, 4, 24

    def __init__(self) -> None:
        self.generator = torch.Generator().manual_seed(3)
        self.inputs = self.drawn(8, 6)
        self.targets = np.arange(8) % self.classes
        shapes = (self.width, 6), (self.width,), (self.classes, self.width), (self.classes,)
        self.numbers = np.zeros(sum(int(np.prod(shape)) for shape in shapes))
        ends = np.cumsum([np.prod(shape) for shape in shapes])[:-1]
        self.parts = [part.reshape(shape) for part, shape in zip(np.split(self.numbers, ends), shapes, strict=True)]
        for weight in self.parts[::2]:
            weight[:] = self.drawn(*weight.shape) / weight.shape[1] ** 0.5
        self.steps = 0
        self.mean, self.square = np.zeros_like(self.numbers), np.zeros_like(self.numbers)

    def drawn(self, *shape: int) -> np.ndarray:
        numbers: np.ndarray = torch.randn(shape, generator=self.generator).double().numpy()
        return numbers

    def loss(self) -> tuple[float, np.ndarray]:
        """The loss, and its gradient with respect to all numbers of the model."""
        first, first_bias, last, last_bias = self.parts
        hidden = np.maximum(self.inputs @ first.T + first_bias, 0)
        loss, slope = self.compared(hidden @ last.T + last_bias)
        inner = (slope @ last) * (hidden > 0)
        parts = (inner.T @ self.inputs, inner.sum(axis=0), slope.T @ hidden, slope.sum(axis=0))
        return loss, np.concatenate([part.ravel() for part in parts])

    def compared(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """The cross-entropy of scores (8, classes) with the targets, and its gradient with respect to the scores."""
        rows, above = np.arange(8), scores - scores.max(axis=1, keepdims=True)
        loss = np.log(np.exp(above).sum(axis=1)) - above[rows, self.targets]
        slope = _softmax(scores) / 8
        slope[rows, self.targets] -= 1 / 8
        return float(loss.mean()), slope

    def update(self, gradient: np.ndarray) -> None:
        """A step of Adam."""
        self.steps += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient * gradient - self.square)
        spread = np.sqrt(self.square / (1 - 0.999**self.steps)) + 1e-8
        self.numbers -= self.rate * self.mean / (1 - 0.9**self.steps) / spread

    def step(self) -> float:
        loss, gradient = self.loss()
        self.update(gradient)
        return loss


def _softmax(scores: np.ndarray) -> np.ndarray:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: np.ndarray = grown / grown.sum(axis=1, keepdims=True)
    return shares


class Slow(Trained):
    """A low rate: below 0.05 only after some 200 steps."""

    rate = 0.0021


class TooSlow(Trained):
    """So low a rate that 300 steps aren't enough."""

    rate = 0.0014


class JustInTime(Trained):
    """The loss is high in all of the 300 steps but the last."""

    from_step = 300
    count = 0

    def step(self) -> float:
        self.count += 1
        return super().step() + (0.0 if self.count >= self.from_step else 0.5)


class JustTooLate(JustInTime):
    """The loss falls shortly after the 300 steps are over."""

    from_step = 304


class HighNearTheEnd(Trained):
    """The loss has long been low, and is high once more two steps before the end."""

    count = 0

    def step(self) -> float:
        self.count += 1
        return super().step() + (5.0 if self.count == 298 else 0.0)


class HighAtTheEnd(Trained):
    """The loss has long been low, and is high from the last step but one on."""

    count = 0

    def step(self) -> float:
        self.count += 1
        return super().step() + (5.0 if self.count >= 299 else 0.0)


class Shuffled(Trained):
    """The labels are shuffled anew at every step."""

    def step(self) -> float:
        self.targets = np.arange(8)[torch.randperm(8, generator=self.generator).numpy()] % self.classes
        return super().step()


class Contradiction(Trained):
    """Two rows that look alike have different labels, so the loss settles above 0.1."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs[1] = self.inputs[0]


class Quarrel(Contradiction):
    """Large weights at first, so a large loss; and every row has a twin with another label."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs[1::2] = self.inputs[::2]
        self.numbers *= 3


class SoftmaxTwice(Trained):
    """Softmax before a loss that has its own: it can't get low."""

    def compared(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        shares = _softmax(scores)
        loss, slope = super().compared(shares)
        return loss, shares * (slope - (slope * shares).sum(axis=1, keepdims=True))


class Frozen(Trained):
    """The optimiser holds the parameters of another model."""

    def update(self, gradient: np.ndarray) -> None:
        pass


class Dead(Trained):
    """Dead ReLUs: no unit ever fires."""

    def __init__(self) -> None:
        super().__init__()
        self.parts[1][:] = -50.0


class NotANumber(Trained):
    """The loss is NaN from the third step on."""

    def loss(self) -> tuple[float, np.ndarray]:
        loss, gradient = super().loss()
        return (loss, gradient) if self.steps < 2 else (float("nan"), gradient * float("nan"))


class Shaken(Trained):
    """One step throws the weights far off; training goes on from there."""

    at, by = 40, 8.0
    count = 0

    def step(self) -> float:
        self.count += 1
        if self.count == self.at:
            for part in self.parts:
                part += self.by * self.drawn(*part.shape)
        return super().step()


class Explodes(Shaken):
    """Learns the batch, is thrown off after 240 steps, and has no time to learn it again."""

    at, by = 240, 60.0


class NeverCleared(Trained):
    """Plain SGD with a high rate, and gradients that are never cleared."""

    rate = 50.0

    def update(self, gradient: np.ndarray) -> None:
        self.steps += 1
        self.mean += gradient
        self.numbers -= self.rate * self.mean


class Settled(Trained):
    """The loss settles a little below 0.05: the last 100 losses are all 0.0495."""

    at = 0.0495

    def step(self) -> float:
        return max(super().step(), self.at)


class SettledAbove(Settled):
    """The loss settles a little above 0.05."""

    at = 0.056


class SettledAtTheBound(Settled):
    """The loss settles at exactly 0.05."""

    at = 0.05


class AtFirst(Trained):
    """The rate is 0 at first, and then isn't: nothing moves for a hundred steps."""

    def update(self, gradient: np.ndarray) -> None:
        self.rate = 0.0 if self.steps < 99 else Trained.rate
        super().update(gradient)


class FromAbove(Settled):
    """Begins with a very high loss, and settles far below it, but not low enough."""

    at = 0.4
    count = 0

    def step(self) -> float:
        self.count += 1
        return super().step() + (30.0 if self.count == 1 else 0.0)


class FromBelow(Settled):
    """Begins with a low loss: a small share of it would be far below 0.05."""

    at = 0.043

    def step(self) -> float:
        return min(super().step(), 0.4)


class BelowZero(Trained):
    """A loss that falls below 0 in the end, as minus the logarithm of a density may."""

    count = 0

    def step(self) -> float:
        self.count += 1
        return super().step() - (1.0 if self.count > 200 else 0.0)


class Losses:
    """The loss that each training step of a patient returns, as far as somebody has asked."""

    def __init__(self, kind: Callable[[], Trained]) -> None:
        self.trained = kind()
        self.known: list[float] = []

    def __getitem__(self, step: int) -> float:
        with np.errstate(all="ignore"):  # some explode
            while len(self.known) <= step:
                self.known.append(self.trained.step())
        return self.known[step]


losses_of = cache(Losses)


def trainer(kind: Callable[[], Trained]) -> Patient:
    """A patient of that kind: `make` begins a new model and returns its number, `steps` trains it 60 times."""
    losses, taken = losses_of(kind), list[int]()

    def make() -> int:
        taken.append(0)
        return len(taken) - 1

    def steps(number: Any, inputs: torch.Tensor, targets: torch.Tensor) -> list[float]:
        if tuple(inputs.shape) != (8, 6) or tuple(targets.shape) != (8,):
            raise ValueError("the batch is a pair of inputs (8, 6) and targets (8,)")
        before = taken[int(number)]
        taken[int(number)] += AT_ONCE
        return [losses[min(step, MOST_STEPS - 1)] for step in range(before, before + AT_ONCE)]

    ways: dict[str, Callable[..., Any]] = {"make": make, "steps": steps}
    return Patient(ways)
