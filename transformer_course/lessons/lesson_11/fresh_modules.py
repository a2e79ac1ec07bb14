"""New modules of this lesson's classes: with known weights, and how much they learn."""

from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import weights_like
from cellcheck.authoring.modules import built


def fresh(symbol: Any, *sizes: Any) -> nn.Module:
    """A new module whose weights are known numbers: a table that nobody asked for shows, and a bias does nothing."""
    module = built(symbol, *sizes)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(weights_like(parameter) - 1 if parameter.dim() > 1 else torch.zeros_like(parameter))
    return module


def looked_at_in_both_modes(module: nn.Module, x: torch.Tensor, evaluated: bool) -> dict[str, Any]:
    """What else there is to say of a module's output: that it differs from call to call, or what it is in eval mode.

    The module has its weights. Afterwards it is in eval mode, with the dtype of x where that has fractions.
    """
    if x.is_floating_point():
        module.to(x.dtype)
    with torch.no_grad():
        once, twice = (module.train()(x.clone()) for _ in range(2))
        if isinstance(once, torch.Tensor) and isinstance(twice, torch.Tensor) and not torch.equal(once, twice):
            return {"output": "other numbers at each call"}
        output = module.eval()(x.clone())
    return {"output": output} if evaluated else {}


def learned_numbers(module: nn.Module) -> int:
    """How many numbers it learns."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
