"""How those symbols are called that are given nothing but numbers, and `sees_order`, whose patients stay behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.authoring.calls import Probe, state
from grader.authoring.modules import StandIn


def _of_numbers(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """There are no arguments that it could change."""
    return {"output": symbol(*inputs.values())}


def _sees_order(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    tokens, vectors, places = inputs["tokens"], inputs["vectors"], inputs["places"]
    model = StandIn(inputs["patient"], {"vectors": vectors}, {"places": places}).train(inputs["training"])
    answer = symbol(model, tokens)
    if isinstance(answer, torch.Tensor) and answer.dtype == torch.bool and answer.dim() == 0:
        answer = bool(answer)
    modes = [module.training for module in model.modules()]
    return {
        "output": answer,
        "training_mode": modes,
        "arguments": [tokens, state([*model.parameters(), *model.buffers()])],
    }


PROBES: dict[str, Probe] = {
    "sinusoidal_positional_encoding": _of_numbers,
    "shift_matrix": _of_numbers,
    "sees_order": _sees_order,
}
