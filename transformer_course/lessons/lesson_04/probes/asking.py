"""How the tests of lessons 04 and 05 are asked about a model from (source, target_input) to logits."""

from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.calls import state
from cellcheck.authoring.modules import StandIn


def ask_about(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What `symbol(model, source, target_input)` says of the case's model, and what it left changed.

    The model is an `nn.Module` where the case has a `mode`, "train" or "eval"; else a function.
    """
    ask, source, target_input = inputs["patient"], inputs["source"], inputs["target_input"]
    if "mode" not in inputs:
        output = symbol(lambda source, target_input: ask("logits", source, target_input), source, target_input)
        return {"output": output, "arguments": state([source, target_input])}
    module = StandIn(ask, {"weight": torch.ones(3)}).train(inputs["mode"] == "train")
    output = symbol(module, source, target_input)
    return {
        "output": output,
        "arguments": state([source, target_input, *module.parameters()]),
        "training_mode": [part.training for part in module.modules()],
    }
