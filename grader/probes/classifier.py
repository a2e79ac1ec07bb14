"""What can be seen of a whole classifier that a learner built: properties, since the contract names no parts.

The blocks are found by what they hold (`attention`, `feed_forward`), wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from grader.probes.calls import state
from grader.probes.modules import built

NEAR = 1e-4


def look_at(symbol: Any, sizes: Sequence[int], tokens: torch.Tensor, kind: str) -> dict[str, Any]:
    """Builds `symbol(*sizes)` and says what it does with `tokens`. `kind` is the dtype of its parameters."""
    torch.manual_seed(sum(sizes))
    model = built(symbol, *sizes).to(getattr(torch, kind))
    with torch.no_grad():
        for parameter in model.parameters():  # nothing stays 0 or 1, and no two parts stay alike
            parameter.copy_(torch.randn(parameter.shape) * 0.5 + (parameter.dim() == 1))
    return {"output": model(tokens), "arguments": state([tokens])}


def blocks_of(model: nn.Module) -> list[Any]:
    """The encoder blocks inside a model, each once."""
    return [module for module in model.modules() if hasattr(module, "attention") and hasattr(module, "feed_forward")]
