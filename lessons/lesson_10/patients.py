"""What `can_overfit` is tried on: small models and real training steps, sound and broken.

A patient's losses don't depend on who asks, so each is trained once, and its losses are read out as they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import nn

from grader.authoring.patients import Patient

MOST_STEPS = 420  # more than 300, for a test that asks too long
AT_ONCE = 60  # losses in one answer: each question costs time


class Trained:
    """Training that works: a network of two layers learns eight rows by heart."""

    rate, classes, width = 0.02, 4, 24

    def __init__(self) -> None:
        self.generator = torch.Generator().manual_seed(3)
        self.inputs = torch.randn(8, 6, generator=self.generator)
        self.targets = torch.arange(8) % self.classes
        self.model = self.build()
        self.optimizer = self.optimised(list(self.model.parameters()))

    def build(self) -> nn.Module:
        sizes = [(6, self.width), (self.width, self.classes)]
        layers = []
        for n, m in sizes:
            layer = nn.Linear(n, m)
            with torch.no_grad():
                layer.weight.copy_(torch.randn(m, n, generator=self.generator) / n**0.5)
                layer.bias.zero_()
            layers.append(layer)
        return nn.Sequential(layers[0], nn.ReLU(), layers[1])

    def optimised(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.Adam(parameters, lr=self.rate)

    def loss(self) -> torch.Tensor:
        return nn.functional.cross_entropy(self.model(self.inputs), self.targets)

    def clear(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> float:
        loss = self.loss()
        self.clear()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item()


class Slow(Trained):
    """A low rate: below 0.05 only after some 200 steps."""

    rate = 0.0021


class TooSlow(Trained):
    """So low a rate that 300 steps aren't enough."""

    rate = 0.0014


class Shuffled(Trained):
    """The labels are shuffled anew at every step."""

    def loss(self) -> torch.Tensor:
        order = torch.randperm(8, generator=self.generator)
        return nn.functional.cross_entropy(self.model(self.inputs), self.targets[order])


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

    def build(self) -> nn.Module:
        model = super().build()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3)
        return model


class SoftmaxTwice(Trained):
    """Softmax before a loss that has its own: it can't get low."""

    def loss(self) -> torch.Tensor:
        return nn.functional.cross_entropy(self.model(self.inputs).softmax(dim=-1), self.targets)


class Frozen(Trained):
    """The optimiser holds the parameters of another model."""

    def optimised(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return super().optimised(list(self.build().parameters()))

    def step(self) -> float:
        return self.loss().item()


class Dead(Trained):
    """Dead ReLUs: no unit ever fires."""

    def build(self) -> nn.Module:
        model = super().build()
        assert isinstance(model, nn.Sequential)
        nn.init.constant_(model[0].bias, -50.0)  # type: ignore[arg-type]
        return model


class NotANumber(Trained):
    """The loss is NaN from the third step on."""

    count = 0

    def loss(self) -> torch.Tensor:
        self.count += 1
        return super().loss() / (0.0 if self.count > 2 else 1.0) * (0.0 if self.count > 2 else 1.0)


class NeverCleared(Trained):
    """Plain SGD with a high rate, and gradients that are never cleared."""

    def optimised(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=50.0)

    def clear(self) -> None:
        pass


class Noisy(Trained):
    """Right, with more rows' worth of noise: settles at about 0.02."""

    def loss(self) -> torch.Tensor:
        return super().loss() + 0.02


class AtFirst(Trained):
    """The rate is far too low at first, and then grows: nothing moves for a hundred steps."""

    def step(self) -> float:
        for group in self.optimizer.param_groups:
            group["step"] = group.get("step", 0) + 1
            group["lr"] = 1e-6 if group["step"] < 100 else self.rate
        return super().step()


@cache
def losses_of(kind: Callable[[], Trained]) -> tuple[float, ...]:
    """The loss that each training step of a patient returns."""
    state = torch.random.get_rng_state()
    trained, losses = kind(), list[float]()
    with torch.enable_grad():
        for _ in range(MOST_STEPS):
            losses.append(trained.step())
    torch.random.set_rng_state(state)
    return tuple(losses)


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
