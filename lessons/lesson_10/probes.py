"""How `can_overfit` is called. It stands here, since `can_overfit.py` knows the patients and must not travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.authoring.calls import Probe


def _can_overfit(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    to_come: dict[int, list[float]] = {}  # the losses of a model's next steps

    def train_step(model: Any, batch: Any) -> float:
        if not isinstance(model, int):
            raise TypeError("train_step needs a model that make_model() has returned")
        losses = to_come.setdefault(model, [])
        if not losses:
            losses.extend(ask("steps", model, *batch))
        return float(losses.pop(0))

    return {"output": symbol(lambda: ask("make"), train_step, (inputs["inputs"], inputs["targets"]))}


PROBES: dict[str, Probe] = {"can_overfit": _can_overfit}
