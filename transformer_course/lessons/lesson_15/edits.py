"""How an edit is tried: it is asked about all layers, and once more, with other numbers and in the other order.

And what is asked of every edit, whatever it does to the heads.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import aspects
from cellcheck.authoring.draw import normal

Pairs = list[tuple[int, int]]

CALLED = {"later": "what the edit returns later on, for other numbers", "arguments": "the arguments after the call"}
KIND = aspects.right_kind(
    "an edit that returns the heads",
    "The edit returns a tensor of the same shape for each layer, whether or not it changes a head of it.",
)
SMALLEST = aspects.special(
    "one row, one token", meaning="A batch of one and rows of a single token give the right result too."
)
OF_EVERY_EDIT = (
    SMALLEST,
    aspects.FLOAT64,
    aspects.LAYOUT,
    aspects.also("call after call", "later", meaning="The edit keeps nothing from one call to the next."),
    aspects.untouched(weight=2.5),
)


def results(
    generator: np.random.Generator, layers: int, batch: int, heads: int, length: int, width: int, dtype: Any = None
) -> list[torch.Tensor]:
    """What heads return in each layer; no number is near zero."""
    drawn = [normal(generator, batch, heads, length, width, dtype=dtype) for _ in range(layers)]
    return [one + one.sign() for one in drawn]


def observed(edit: Callable[[int, Any], Any], inputs: Mapping[str, Any], *given: Any) -> dict[str, Any]:
    """What an edit returns for each layer, in order; what it does to other numbers afterwards; what it was given."""
    heads = inputs["heads"]
    output = [edit(layer, of_layer) for layer, of_layer in enumerate(heads)]
    first = [one.clone() if isinstance(one, torch.Tensor) else one for one in output]
    later = [edit(layer, 3 * heads[layer] + 1) for layer in reversed(range(len(heads)))]
    return {"output": first, "later": later, "arguments": [*given, heads]}
