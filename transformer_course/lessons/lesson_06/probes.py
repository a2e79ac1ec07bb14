"""How those symbols are called that are given nothing but numbers, and `sees_order`, whose patients stay behind."""

from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.calls import Probe, plain_bool, state
from cellcheck.authoring.modules import StandIn
from transformer_course.lessons.lesson_06.precision import look_at_vectors

MOVED = 9  # places; no whole number of turns


def _of_numbers(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """There are no arguments that it could change. Before another base, it is called with the usual one."""
    if "base" in inputs:
        symbol(*(value for name, value in inputs.items() if name != "base"))
    return {"output": symbol(*inputs.values())}


def _sees_order(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    tokens, vectors, places = inputs["tokens"], inputs["vectors"], inputs["places"]
    model = StandIn(inputs["patient"], {"vectors": vectors}, {"places": places}).train(inputs["training"])
    answer = plain_bool(symbol(model, tokens))
    modes = [module.training for module in model.modules()]
    return {
        "output": answer,
        "training_mode": modes,
        "arguments": [tokens, state([*model.parameters(), *model.buffers()])],
    }


def _relative_attention_scores(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What it returns, and whether the same comes out when everything stands somewhere else."""
    query, key, positions = inputs["query"], inputs["key"], inputs["positions"]
    seen = look_at_vectors(symbol, inputs, [query, key, positions], (0, 1))
    if not inputs["follow"]:
        here, there = seen["output"], symbol(query, key, positions + MOVED)
        same = isinstance(here, torch.Tensor) and here.shape == there.shape
        same = same and torch.allclose(here.float(), there.float(), rtol=1e-3, atol=1e-3)
        seen["moved"] = f"all positions + {MOVED}: {'the same scores' if same else 'different scores'}"
    return seen


PROBES: dict[str, Probe] = {
    "sinusoidal_positional_encoding": _of_numbers,
    "shift_matrix": _of_numbers,
    "relative_attention_scores": _relative_attention_scores,
    "sees_order": _sees_order,
}
