"""How `ablation_is_sound` is called.

This stands apart from its cases: a probe travels to the learner's process, and the code that it is tried on knows the
answer.
"""

from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.calls import Probe, plain_bool


def _ablation_is_sound(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask, tokens = inputs["patient"], inputs["tokens"].clone()
    taken: list[int] = []  # how many heads, call by call

    def run(tokens: Any, which: Any) -> Any:
        taken.append(len(which))
        return ask("run", torch.as_tensor(tokens).detach(), [[int(layer), int(head)] for layer, head in which])

    verdict = plain_bool(symbol(run, tokens, inputs["layer"], inputs["head"]))
    left = "as they were" if torch.equal(tokens, inputs["tokens"]) else "changed"
    back = any(taken) and taken[-1] == 0
    return {"output": verdict, "verdict and tokens": f"{verdict}, and the tokens are {left}", "run again": back}


PROBES: dict[str, Probe] = {"ablation_is_sound": _ablation_is_sound}
