"""What the contract of lesson 6 says about numbers: which dtype they have, and not how precisely an angle was made."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from cellcheck.authoring import Case, Observation, aspects
from cellcheck.authoring.calls import call, call_and_follow

ANY_NUMBERS = (
    # The dtype has a key of its own, since the canonical form below changes that of the output.
    replace(aspects.dtype(), keys=("dtype",), kinds=aspects.KNOWN),
    replace(aspects.FLOAT64, meaning="With float64 arguments, the result is right too."),
    aspects.LAYOUT,
)


def in_single_precision(observation: Observation, case: Case) -> Observation:
    """Angles made in float32 are as good as those made in float64: their difference is not looked at."""
    if any(isinstance(value, torch.Tensor) and value.dtype == torch.float64 for value in case.inputs.values()):
        return {**observation, "output": observation["output"].float()}
    return observation


def name_of_dtype(value: Any) -> str:
    """The dtype as PyTorch calls it."""
    return str(getattr(value, "dtype", "none")).removeprefix("torch.")


def look_at_vectors(
    symbol: Any, inputs: Mapping[str, Any], arguments: Sequence[Any], of: Sequence[int]
) -> dict[str, Any]:
    """Calls it with these arguments; where the case says "follow", gradients are followed into those at `of`."""
    seen = call_and_follow(symbol, *arguments, of=of) if inputs["follow"] else call(symbol, *arguments)
    return {**seen, "dtype": name_of_dtype(seen["output"])}
