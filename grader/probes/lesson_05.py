"""How the symbols of lesson 05 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.probes.calls import Probe, call


def _mask(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, *inputs.values())


def _model(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"output": list(symbol(*inputs["sizes"])(inputs["source"], inputs["target_input"]).shape)}


def _leak(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    table = torch.sin(torch.arange(200.0)).reshape(20, 10)

    def model(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return table[target_input.roll(-1, dims=1) if inputs["model"] == "peeks" else target_input]

    return {"output": symbol(model, inputs["source"], inputs["target_input"]) > 0}


PROBES: dict[str, Probe] = {
    "future_leak": _leak,
    "causal_mask": _mask,
    "decoder_mask": _mask,
    "CausalSeq2SeqTransformer": _model,
}
