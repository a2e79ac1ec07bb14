"""What several exercises' probes share, and how `can_overfit` is called: `can_overfit.py` knows the patients, and so
must not travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import KNOWN
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.spec import Aspect

MOST_CALLS = 1000
"""Of train_step, by a test that asks for 300 steps."""

A_FLOAT = Aspect("a Python float", ("kind",), KNOWN, 1.5, meaning="The result is a plain Python number.")
"""Looks at the `kind` of `number_and_kind`: a tensor with the right number in it costs this much, and no more."""


def number_and_kind(output: Any) -> dict[str, Any]:
    """What came back as a number, under `output`, and what it came in, under `kind`."""
    if isinstance(output, torch.Tensor) and output.numel() == 1:
        return {"output": float(output.item()), "kind": "a tensor"}
    if isinstance(output, np.ndarray) and output.size == 1:
        return {"output": float(output.item()), "kind": "a NumPy array"}
    number = isinstance(output, int | float | np.number) and not isinstance(output, bool)
    return {"output": float(output) if number else output, "kind": "a Python float" if number else _kind(output)}


def _kind(output: Any) -> str:
    return "nothing" if output is None else f"an object of type {type(output).__name__}"


def _can_overfit(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask, calls = inputs["patient"], [0]
    to_come: dict[int, list[float]] = {}  # the losses of a model's next steps

    def train_step(model: Any, batch: Any) -> float:
        if not isinstance(model, int):
            raise TypeError("train_step needs a model that make_model() has returned")
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise TypeError("train_step needs the batch as it was handed in, in one piece")
        calls[0] += 1
        if calls[0] > MOST_CALLS:
            raise RuntimeError(f"train_step has been called {MOST_CALLS:,} times, and the test hasn't ended yet")
        losses = to_come.setdefault(model, [])
        if not losses:
            losses.extend(ask("steps", model, *batch))
        return float(losses.pop(0))

    train_step.__qualname__ = train_step.__name__  # Python names it so where an answer hands it too much
    return {"output": symbol(lambda: ask("make"), train_step, (inputs["inputs"], inputs["targets"]))}


PROBES: dict[str, Probe] = {"can_overfit": _can_overfit}
