"""The bug clinic's test for losses, on more of them than its exercise has patients."""

import warnings
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from transformer_course.training import loss_is_sound

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor | float]

# Losses made of `predictions - targets`: each broadcasts where the shapes invite it to.
BROADCASTING: dict[str, Loss] = {
    "square": lambda p, t: ((p - t) ** 2).mean(),
    "sum of squares": lambda p, t: ((p - t) ** 2).sum(),
    "root": lambda p, t: ((p - t) ** 2).mean().sqrt(),
    "absolute": lambda p, t: (p - t).abs().mean(),
    "absolute, a Python float": lambda p, t: (p - t).abs().mean().item(),
    "largest": lambda p, t: (p - t).abs().max(),
    "smallest": lambda p, t: (p - t).abs().min(),
    "median": lambda p, t: (p - t).abs().median(),
    "log-cosh": lambda p, t: (p - t).cosh().log().mean(),
    "relative": lambda p, t: ((p - t) / t).abs().mean(),
    "logarithmic": lambda p, t: ((p.log() - t.log()) ** 2).mean(),
    "quantile": lambda p, t: torch.maximum(0.9 * (t - p), 0.1 * (p - t)).mean(),
    "ignores small errors": lambda p, t: ((p - t).abs() - 0.15).clamp(min=0).mean(),
    "within a half": lambda p, t: ((p - t).abs() > 0.5).float().mean(),
    "exact": lambda p, t: (p != t).float().mean(),
    "cross-entropy": lambda p, t: -(t * p.log() + (1 - t) * (1 - p).log()).mean(),
    "hinge": lambda p, t: (1 - t * p).clamp(min=0).mean(),
    "same side": lambda p, t: ((p > 0.5) != (t > 0.5)).float().mean(),
}
PYTORCHS = {loss.__name__: loss for loss in (F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss)}


@pytest.mark.parametrize("name", [*BROADCASTING, *PYTORCHS])
def test_each_broadcast_is_found_and_each_repair_trusted(name: str) -> None:
    loss: Loss = (BROADCASTING | PYTORCHS)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of what is found here
        assert loss_is_sound(loss) is False
    assert loss_is_sound(lambda p, t: loss(p.reshape(t.shape), t)) is True


def test_a_loss_that_turns_into_a_vector_or_refuses_is_not_sound_and_stops_nobody() -> None:
    assert loss_is_sound(lambda p, t: ((p - t) ** 2).mean(-1)) is False
    assert loss_is_sound(lambda p, t: ((p[:, 0] - t) ** 2).mean()) in (True, False)
    assert loss_is_sound(F.binary_cross_entropy) in (True, False)  # raises where shapes differ
