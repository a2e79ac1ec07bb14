"""How the symbols of lesson 06 are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, call, call_and_follow, gradients, state
from grader.authoring.modules import StandIn

MOVED = 9  # places; no whole number of turns


def _base(inputs: Mapping[str, Any]) -> list[float]:
    return [inputs["base"]] if "base" in inputs else []


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", "none")).removeprefix("torch.")


def _sinusoids(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"output": symbol(inputs["length"], inputs["d_model"], *_base(inputs))}


def _shift(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"output": symbol(inputs["offset"], inputs["d_model"], *_base(inputs))}


def _module(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Builds `symbol(d_model, max_length)`, and runs it forward twice and backward once."""
    d_model, max_length, x = inputs["d_model"], inputs["max_length"], inputs["x"]
    model = symbol(d_model, max_length)
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"SinusoidalPositionalEncoding(...) should return an nn.Module, but it returns a {kind}")
    if x.dtype == torch.float64:
        model = model.double()
    table = any(buffer.numel() >= max_length * d_model for buffer in model.buffers())
    numbers = sum(parameter.numel() for parameter in model.parameters())
    learned = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    seen: dict[str, Any] = {
        "learned": f"{learned} numbers to learn",
        "parameters": f"{numbers} numbers in model.parameters()",
        "buffers": "a table in model.buffers()" if table else "no table in model.buffers()",
    }
    model.train()  # where a dropout that nobody asked for would show
    seen["output"] = model(x)
    seen["dtype"] = _dtype(seen["output"])
    modes = [model.training]
    model.eval()
    tracked = x.detach().clone().requires_grad_()
    try:
        output = model(tracked)
        same = torch.equal(output.detach(), seen["output"].detach())
        found = gradients(output, [tracked])
    except Exception as error:
        same, found = True, f"stopped with {type(error).__name__}: {error}"
    if inputs["follow"]:
        seen["gradients"] = found
    seen["again"] = "the same result" if same else "another result"
    seen["training_mode"] = [*modes, model.training]
    seen["arguments"] = [state(x), state(tracked)]
    return seen


def _rotary(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return _vectors(symbol, inputs, [inputs["x"], inputs["positions"], *_base(inputs)], (0,))


def _scores(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What it returns, and whether the same comes out when everything stands somewhere else."""
    query, key, positions = inputs["query"], inputs["key"], inputs["positions"]
    seen = _vectors(symbol, inputs, [query, key, positions], (0, 1))
    if not inputs["follow"]:
        here, there = seen["output"], symbol(query, key, positions + MOVED)
        same = isinstance(here, torch.Tensor) and here.shape == there.shape
        same = same and torch.allclose(here.float(), there.float(), rtol=1e-3, atol=1e-3)
        seen["moved"] = f"all positions + {MOVED}: {'the same scores' if same else 'different scores'}"
    return seen


def _vectors(symbol: Any, inputs: Mapping[str, Any], arguments: list[Any], of: Sequence[int]) -> dict[str, Any]:
    """Calls it; where the case says so, gradients are followed too."""
    seen = call_and_follow(symbol, *arguments, of=of) if inputs["follow"] else call(symbol, *arguments)
    return {**seen, "dtype": _dtype(seen["output"])}


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
    "sinusoidal_positional_encoding": _sinusoids,
    "shift_matrix": _shift,
    "SinusoidalPositionalEncoding": _module,
    "rotary_embedding": _rotary,
    "relative_attention_scores": _scores,
    "sees_order": _sees_order,
}
