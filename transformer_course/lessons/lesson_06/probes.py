"""How those symbols are called that are given nothing but numbers, and `sees_order`, whose patients stay behind."""

from collections.abc import Mapping
from typing import Any

from cellcheck.authoring.calls import Probe, plain_bool, state
from cellcheck.authoring.modules import StandIn


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


PROBES: dict[str, Probe] = {
    "sinusoidal_positional_encoding": _of_numbers,
    "shift_matrix": _of_numbers,
    "sees_order": _sees_order,
}
