"""How `looks_ahead` is called.

This stands apart from its cases: a probe travels to the learner's process, and their patients use answers of this
lesson.
"""

from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.calls import Probe


def _looks_ahead(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask, given = inputs["patient"], inputs["series"].clone()
    changed = []

    def pipeline(series: Any, cut: Any) -> Any:
        changed.append(not torch.equal(given, inputs["series"]))
        return ask("forecast", torch.as_tensor(series).detach(), int(cut))

    output = symbol(pipeline, given, inputs["cut"])
    left = "as it was" if torch.equal(given, inputs["series"]) and not any(changed) else "changed"
    return {"output": output, "verdict and series": f"{output}, and the series is {left}"}


PROBES: dict[str, Probe] = {"looks_ahead": _looks_ahead}
