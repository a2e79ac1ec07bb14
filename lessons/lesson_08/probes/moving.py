"""What moves when something is changed: the yardstick of the looks at whole models."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

NEAR = 1e-9


def shaken(model: nn.Module) -> nn.Module:
    """The model in float64, in evaluation mode, its parameters moved away from their start.

    Embeddings that start large are made small: where scores are huge, attention hears one token alone.
    """
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2 and parameter.std() > 0.8:
                parameter.mul_(parameter.shape[-1] ** -0.5)
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_((0.2 * noise).to(parameter.dtype))
    return model.double().eval()


def still(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether nothing moved. What is not finite has moved."""
    return bool((_moves(before, after) < NEAR).all())


def moving(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether every vector moved."""
    return bool((_moves(before, after) > NEAR).all())


def _moves(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """How far each vector moved: (batch, length)."""
    return (after - before).abs().amax(dim=-1) / (1 + before.abs().max())


def say(right: bool, yes: str, no: str) -> str:
    return yes if right else no


def another_token(tokens: torch.Tensor, place: int) -> torch.Tensor:
    """Another id, and never padding, at one place of each row."""
    changed = tokens.clone()
    changed[:, place] = torch.where(tokens[:, place] > 2, tokens[:, place] - 1, tokens[:, place] + 2)
    return changed


def another_state(states: torch.Tensor, place: int) -> torch.Tensor:
    """Another vector at one place of each row."""
    changed = states.clone()
    changed[:, place] = 3 - 2 * changed[:, place]
    return changed


def out_of_use(model: nn.Module, gradients: Any) -> str:
    """Which parameters no gradient reaches, in words that don't hang on their names."""
    if isinstance(gradients, str):
        return gradients
    idle = [place for place, gradient in enumerate(gradients) if gradient is None]
    if not idle:
        return "all in use"
    numbers = sum(parameter.numel() for place, parameter in enumerate(model.parameters()) if place in idle)
    return f"{numbers} numbers without use, the first in parameter {idle[0] + 1} of {len(gradients)}"


def numbers_in(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def has_option(symbol: Any, name: str) -> bool:
    """Whether something is made with an option of this name."""
    try:
        return name in inspect.signature(symbol).parameters
    except (TypeError, ValueError):
        return False
