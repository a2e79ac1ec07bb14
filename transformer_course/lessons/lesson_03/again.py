"""What a layer keeps from one call must have no influence on the next: calls before the one that is looked at."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring import aspects

AGAIN = aspects.special(
    "called again",
    weight=2.0,
    meaning="The result depends on what is passed in now, and not on an earlier call.",
)


def after_other_calls(module: nn.Module, inputs: Mapping[str, Any]) -> nn.Module:
    """The module, once it has been called with each of the arguments under `before`, if there are any."""
    with torch.no_grad():
        for arguments in inputs.get("before", ()):
            module(*arguments)
    return module
