"""How `sees_order` is called. Its patients stay behind, so this stands apart from how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.authoring.calls import Probe, state
from grader.authoring.modules import StandIn


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


PROBES: dict[str, Probe] = {"sees_order": _sees_order}
