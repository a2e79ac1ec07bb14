"""New modules of this lesson's classes: with known weights, and how much they learn."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grader.authoring.calls import weights_like
from grader.authoring.modules import built


def fresh(symbol: Any, *sizes: Any) -> nn.Module:
    """A new module whose weights are known numbers: a table that nobody asked for shows, and a bias does nothing."""
    module = built(symbol, *sizes)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(weights_like(parameter) - 1 if parameter.dim() > 1 else torch.zeros_like(parameter))
    return module


def learned_numbers(module: nn.Module) -> int:
    """How many numbers it learns."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
