"""How the symbols of lesson 04 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.probes.calls import Probe, call


def _metric(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, *inputs.values())


def _shape(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    d_model, num_heads, d_ff = inputs["sizes"]
    sizes = (d_model, num_heads) if symbol.__name__ == "CrossAttention" else (d_model, num_heads, d_ff)
    output = symbol(*sizes)(inputs["decoder_states"], inputs["encoder_states"])
    return {"output": list((output if isinstance(output, torch.Tensor) else output[0]).shape)}


def _model(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"output": list(symbol(*inputs["sizes"])(inputs["source"], inputs["target_input"]).shape)}


def _influence(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    table = torch.sin(torch.arange(200.0)).reshape(20, 10)

    def model(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        logits = table[target_input]
        return logits + table[source[:, :1]] if inputs["model"] == "listens" else logits

    return {"output": symbol(model, inputs["source"], inputs["target_input"]) > 0}


PROBES: dict[str, Probe] = {
    "shift_right": _metric,
    "sequence_cross_entropy": _metric,
    "perplexity": _metric,
    "token_accuracy": _metric,
    "exact_match": _metric,
    "CrossAttention": _shape,
    "DecoderBlock": _shape,
    "Seq2SeqTransformer": _model,
    "encoder_influence": _influence,
}
