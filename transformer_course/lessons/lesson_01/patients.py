"""Losses, sound ones and broken ones: what `loss_is_sound` is tried on."""

from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring.patients import Patient


def _column(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return predictions - targets.reshape(-1, 1)


def _broadcast(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return predictions - targets


def _flat(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return predictions.reshape(-1) - targets.reshape(-1)


# Each makes one number of predictions, targets and a drawn scale.
LOSSES: dict[str, Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor | float]] = {
    # Sound: (n, 1) and (n,) give the same number, bit by bit.
    "flat mean": lambda p, t, s: s * (_flat(p, t) ** 2).mean(),
    "flat sum": lambda p, t, s: s * (_flat(p, t) ** 2).sum(),
    "flat absolute": lambda p, t, s: s * _flat(p, t).abs().mean(),
    "targets reshaped": lambda p, t, s: s * ((p - t.reshape(p.shape)) ** 2).mean(),
    "flat with a constant": lambda p, t, s: (_flat(p, t) ** 2).mean() + s,
    "flat float": lambda p, t, s: float(s * (_flat(p, t) ** 2).mean()),
    # Broken: one of the two shapes broadcasts to (n, n) somewhere on the way.
    "mean": lambda p, t, s: s * (_broadcast(p, t) ** 2).mean(),
    "sum": lambda p, t, s: s * (_broadcast(p, t) ** 2).sum(),
    "absolute": lambda p, t, s: s * _broadcast(p, t).abs().mean(),
    "root": lambda p, t, s: s * (_broadcast(p, t) ** 2).mean().sqrt(),
    "targets as a column": lambda p, t, s: s * (_column(p, t) ** 2).mean(),
    "mixture": lambda p, t, s: s * (0.8 * (_flat(p, t) ** 2).mean() + 0.2 * (_broadcast(p, t) ** 2).mean()),
    "broadcast float": lambda p, t, s: float(s * (_broadcast(p, t) ** 2).mean()),
}


def loss(name: str, scale: float) -> Patient:
    """The loss of that name: predictions and targets in, one number out."""

    def way(predictions: Any, targets: Any) -> torch.Tensor | float:
        # A learner may try it on whole numbers or NumPy arrays: that is no question of soundness.
        return LOSSES[name](torch.as_tensor(predictions).double(), torch.as_tensor(targets).double(), scale)

    return Patient({"loss": way}, most_numbers=2**13)
