"""How the symbols of lesson 12 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.authoring.calls import Probe, in_order_with_gradients
from lessons.lesson_12.probes.readers import look_at

Inputs = Mapping[str, Any]


def _forecaster(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    sizes = inputs["sizes"]
    return look_at(symbol, inputs, range(sizes["input_length"]), sizes["horizon"])


def _vision(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    sizes = inputs["sizes"]
    side, patch = sizes["image_size"], sizes["patch_size"]
    places = [(row // patch, column // patch) for row in range(side) for column in range(side)]
    across = side // patch
    groups = [row * across + column for row, column in places] * sizes["channels"]
    return look_at(symbol, inputs, groups, sizes["num_classes"])


def _looks_ahead(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask, series = inputs["patient"], inputs["series"].clone()

    def pipeline(series: Any, cut: Any) -> Any:
        return ask("forecast", torch.as_tensor(series).detach(), int(cut))

    output = symbol(pipeline, series, inputs["cut"])
    left = "as it was" if torch.equal(series, inputs["series"]) else "changed"
    return {"output": output, "verdict and series": f"{output}, and the series is {left}"}


PROBES: dict[str, Probe] = {
    "masked_mean": in_order_with_gradients(0),
    "patchify": in_order_with_gradients(0),
    "Forecaster": _forecaster,
    "VisionTransformer": _vision,
    "looks_ahead": _looks_ahead,
}
