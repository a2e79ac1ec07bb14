"""What the contract of lesson 6 says about numbers: which dtype they have, and not how precisely an angle was made."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.authoring.aspects import KNOWN, dtype, special
from grader.authoring.spec import Case, Observation

ANY_NUMBERS = (
    # The dtype has a key of its own, since the canonical form below changes that of the output.
    replace(dtype(), keys=("dtype",), kinds=KNOWN),
    special("float64", "float64", meaning="With float64 arguments, the result is right too."),
    special("any layout in memory", "strided"),
)


def in_single_precision(observation: Observation, case: Case) -> Observation:
    """Angles made in float32 are as good as those made in float64: their difference is not looked at."""
    kept = dict(observation)
    if any(isinstance(value, torch.Tensor) and value.dtype == torch.float64 for value in case.inputs.values()):
        kept["output"] = observation["output"].float()
    return kept
