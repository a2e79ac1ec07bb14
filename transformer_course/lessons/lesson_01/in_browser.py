"""What the part of lesson 1 that needs no PyTorch is run on, where there is none: in a browser.

Under the names that its cells use stand the same points and the same random networks, as NumPy's arrays. They are
drawn as PyTorch draws them, from the same bits, so the numbers in the text hold here too.
"""

from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["baseline_losses", "grid", "lab", "noisy_curve", "shared_inputs", "true_curve"]

LOW, HIGH = -2.0, 2.0
_ROW = 16  # PyTorch draws normal numbers by the row


class Tensor(np.ndarray):
    """An array that gives itself where a tensor would give its array."""

    def numpy(self) -> np.ndarray:
        """The plain array."""
        return self.view(np.ndarray)


class Generator:
    """Draws what `torch.Generator().manual_seed(seed)` draws."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.RandomState(seed)

    def rand(self, *shape: int) -> np.ndarray:
        """Uniform from 0 to 1, float32: of 32 bits the lower 24."""
        bits = self._bits.randint(0, 2**32, size=shape, dtype=np.uint32)
        return ((bits & 0xFFFFFF) / 2**24).astype(np.float32)

    def randn(self, *shape: int) -> np.ndarray:
        """Standard normal, float32, for at least 16 numbers: two from two uniform ones, as Box and Muller do."""
        size = int(np.prod(shape))
        drawn = self.rand(size)
        starts = list(range(0, size - size % _ROW, _ROW))
        for start in starts:
            drawn[start : start + _ROW] = _box_muller(drawn[start : start + _ROW])
        if size % _ROW:  # the last row anew, over what is there
            drawn[-_ROW:] = _box_muller(self.rand(_ROW))
        return drawn.reshape(shape)


def _box_muller(uniform: np.ndarray) -> np.ndarray:
    radius = np.sqrt(-2 * np.log(1 - uniform[: _ROW // 2]))
    angle = np.float32(2 * np.pi) * uniform[_ROW // 2 :]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])


@dataclass(frozen=True)
class CurveData:
    """Points to train on, and other points to test on, each (n, 1), float32."""

    train_inputs: Tensor
    train_targets: Tensor
    test_inputs: Tensor
    test_targets: Tensor
    noise: float

    @property
    def train(self) -> tuple[Tensor, Tensor]:
        """(inputs, targets) to train on."""
        return self.train_inputs, self.train_targets

    @property
    def test(self) -> tuple[Tensor, Tensor]:
        """(inputs, targets) to test on, never to train on."""
        return self.test_inputs, self.test_targets


def true_curve(x: Any) -> Tensor:
    """The curve behind the points."""
    return _tensor(np.sin(3 * x) + x / 2)


def noisy_curve(seed: int, points: int = 24, test_points: int = 500, noise: float = 0.4) -> CurveData:
    """The points that `transformer_course.tasks.curve` draws."""
    generator = Generator(seed)
    slices = np.arange(points, dtype=np.float32)[:, None]
    train_inputs = LOW + (HIGH - LOW) * ((slices + generator.rand(points, 1)) / np.float32(points))
    train_noise = noise * generator.randn(points, 1)
    test_inputs = LOW + (HIGH - LOW) * generator.rand(test_points, 1)
    test_noise = noise * generator.randn(test_points, 1)
    return CurveData(
        train_inputs=_tensor(train_inputs),
        train_targets=_tensor(true_curve(train_inputs) + train_noise),
        test_inputs=_tensor(test_inputs),
        test_targets=_tensor(true_curve(test_inputs) + test_noise),
        noise=noise,
    )


def grid(points: int = 200) -> Tensor:
    """Inputs (points, 1), evenly spaced over the whole range."""
    return _tensor(np.linspace(LOW, HIGH, points, dtype=np.float32)[:, None])


def baseline_losses(data: CurveData) -> dict[str, float]:
    """The mean squared error on the test points of three predictors that aren't networks."""
    inputs, targets = (each.numpy().astype(np.float64) for each in data.train)
    test_inputs, test_targets = (each.numpy().astype(np.float64) for each in data.test)
    slope, height = np.polyfit(inputs[:, 0], targets[:, 0], deg=1)
    predictions = {
        "mean": targets.mean(),
        "straight line": slope * test_inputs + height,
        "true curve": true_curve(test_inputs),
    }
    return {name: float(((guess - test_targets) ** 2).mean()) for name, guess in predictions.items()}


def shared_inputs(data: CurveData) -> int:
    """How many test inputs also appear in the training data."""
    return int(np.isin(data.test_inputs, data.train_inputs).sum())


def _random_params(sizes: list[int], seed: int) -> list[tuple[Tensor, Tensor]]:
    generator = Generator(seed)
    params = []
    for d_in, d_out in pairwise(sizes):
        reach = d_in**-0.5
        W = reach * (2 * generator.rand(d_in, d_out) - 1)
        b = reach * (2 * generator.rand(d_out) - 1)
        params.append((_tensor(W), _tensor(b)))
    return params


def _tensor(values: Any) -> Tensor:
    return np.asarray(values).view(Tensor)


lab = SimpleNamespace(random_params=_random_params)
"""Of the lesson's experiments, what this part uses."""
