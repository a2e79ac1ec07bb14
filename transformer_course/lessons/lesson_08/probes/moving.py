"""What moves when something is changed: the yardstick of the looks at whole models."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

NEAR = 1e-9


def shaken(model: nn.Module) -> nn.Module:
    """The model in float64, in evaluation mode, its parameters moved away from their start.

    Embeddings that start large are made small: where scores are huge, attention hears one token alone.
    """
    parameters = list(model.parameters())
    generator = torch.Generator().manual_seed(5)
    noise = 0.2 * torch.randn(numbers_in(model), generator=generator, dtype=torch.float64)
    with torch.no_grad():
        for parameter, own in zip(parameters, torch.split(noise, [p.numel() for p in parameters]), strict=True):
            if parameter.dim() == 2 and parameter.norm() > 0.8 * parameter.numel() ** 0.5:
                parameter.mul_(parameter.shape[-1] ** -0.5)
            parameter.data = parameter.data + own.view(parameter.shape)
        for buffer in model.buffers():  # as `double` would, which looks at everything once more
            if buffer.is_floating_point():
                buffer.data = buffer.data.double()
    return model.eval()


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
    """Which parts of the model no gradient reaches."""
    if isinstance(gradients, str):
        return "nothing: the result is cut off from all parameters" if gradients == "cut off" else gradients
    named = zip(model.named_parameters(), gradients, strict=True)
    reached = {name: gradient is not None for (name, _), gradient in named}
    parts: list[str] = []
    for name, used in reached.items():
        if used or any(f"{name}.".startswith(f"{part}.") for part in parts):
            continue
        steps = name.split(".")
        prefixes = [".".join(steps[:length]) for length in range(1, len(steps) + 1)]
        idle = (p for p in prefixes if not any(u for n, u in reached.items() if f"{n}.".startswith(f"{p}.")))
        parts.append(next(idle))
    return f"every part but {', '.join(parts[:3])}" if parts else "every part"


def numbers_in(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def with_option(symbol: Any, name: str) -> Callable[..., Any] | None:
    """Makes it with this option switched on; None where it is made without one of that name."""
    try:
        parameters = inspect.signature(symbol).parameters
    except (TypeError, ValueError):
        return None
    if name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return lambda *sizes, **others: symbol(*sizes, **{name: True}, **others)
    return None
