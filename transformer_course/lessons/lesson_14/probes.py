"""How `moved_by` is called.

This stands apart from its cases: a probe travels to the learner's process, and the models that it is tried on know the
answer.
"""

from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.calls import Probe


def _moved_by(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    source, target_input = inputs["source"].clone(), inputs["target_input"].clone()

    def model(source: Any, target_input: Any) -> Any:
        return ask("logits", torch.as_tensor(source).detach(), torch.as_tensor(target_input).detach())

    output = symbol(model, source, target_input)
    same = torch.equal(source, inputs["source"]) and torch.equal(target_input, inputs["target_input"])
    return {"output": output, "left": "as they were" if same else "changed"}


PROBES: dict[str, Probe] = {"moved_by": _moved_by}
