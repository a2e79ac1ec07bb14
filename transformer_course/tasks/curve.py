"""Lesson 1's data: a few noisy points of a curve that the network does not know."""

from dataclasses import dataclass

import torch

LOW, HIGH = -2.0, 2.0  # all inputs lie between these two


@dataclass(frozen=True)
class CurveData:
    """Points to train on, and other points to test on. Every tensor is (n, 1), float32."""

    train_inputs: torch.Tensor
    train_targets: torch.Tensor
    test_inputs: torch.Tensor
    test_targets: torch.Tensor
    noise: float

    @property
    def train(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(inputs, targets) to train on."""
        return self.train_inputs, self.train_targets

    @property
    def test(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(inputs, targets) to test on, never to train on."""
        return self.test_inputs, self.test_targets


def true_curve(x: torch.Tensor) -> torch.Tensor:
    """The curve behind the points: a wave on a slope, `sin(3x) + x / 2`.

    >>> true_curve(torch.tensor([0.0, 2.0]))
    tensor([0.0000, 0.7206])
    """
    return torch.sin(3 * x) + x / 2


def noisy_curve(seed: int, points: int = 24, test_points: int = 500, noise: float = 0.4) -> CurveData:
    """Draw noisy points of `true_curve`: `points` to train on and `test_points` to test on.

    The training inputs cover the whole range: it is cut into `points` equal slices, and each slice gets one input at a
    random place. The test inputs are drawn anywhere. The noise is normal, with standard deviation `noise`.

    >>> data = noisy_curve(seed=0)
    >>> data.train_inputs.shape, data.test_targets.shape
    (torch.Size([24, 1]), torch.Size([500, 1]))
    """
    generator = torch.Generator().manual_seed(seed)
    slices = torch.arange(points).unsqueeze(1)  # (points, 1)
    places = (slices + torch.rand(points, 1, generator=generator)) / points  # (points, 1), from 0 to 1
    train_inputs = LOW + (HIGH - LOW) * places
    train_noise = noise * torch.randn(points, 1, generator=generator)
    test_inputs = LOW + (HIGH - LOW) * torch.rand(test_points, 1, generator=generator)
    test_noise = noise * torch.randn(test_points, 1, generator=generator)
    return CurveData(
        train_inputs=train_inputs,
        train_targets=true_curve(train_inputs) + train_noise,
        test_inputs=test_inputs,
        test_targets=true_curve(test_inputs) + test_noise,
        noise=noise,
    )


def grid(points: int = 200) -> torch.Tensor:
    """Inputs (points, 1), evenly spaced over the whole range, for drawing a network's curve."""
    return torch.linspace(LOW, HIGH, points).unsqueeze(1)


def baseline_losses(data: CurveData) -> dict[str, float]:
    """The mean squared error on the test points of three predictors that aren't networks.

    "mean": always the mean of the training targets. "straight line": the best line through the training
    points. "true curve": the curve itself. Its error is all noise, which nobody can learn.

    >>> {name: round(loss, 2) for name, loss in baseline_losses(noisy_curve(seed=0)).items()}
    {'mean': 0.68, 'straight line': 0.61, 'true curve': 0.18}
    """
    mean = data.train_targets.mean()
    design = torch.cat([data.train_inputs, torch.ones_like(data.train_inputs)], dim=1)  # (n, 2)
    line = torch.linalg.lstsq(design, data.train_targets).solution  # (2, 1): slope and height
    test_design = torch.cat([data.test_inputs, torch.ones_like(data.test_inputs)], dim=1)  # (n_test, 2)
    predictions = {
        "mean": mean.expand_as(data.test_targets),  # () -> (n_test, 1)
        "straight line": test_design @ line,  # (n_test, 1)
        "true curve": true_curve(data.test_inputs),  # (n_test, 1)
    }
    return {name: float(((guess - data.test_targets) ** 2).mean()) for name, guess in predictions.items()}


def shared_inputs(data: CurveData) -> int:
    """How many test inputs also appear in the training data. A clean split has none.

    >>> shared_inputs(noisy_curve(seed=0))
    0
    """
    return int(torch.isin(data.test_inputs, data.train_inputs).sum())
