"""Parameters of networks, as tensors or NumPy arrays, and what is special about some networks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch

from grader.authoring.draw import normal, strided
from lessons.aspects import special

Params = list[tuple[torch.Tensor, torch.Tensor]]  # [(W, b), ...]
SINGLE_LAYER = special("a single layer")
WIDTH_ONE = special("layers of width one")


def draw_params(generator: np.random.Generator, sizes: list[int], dtype: torch.dtype = torch.float32) -> Params:
    """[(W, b), ...] for layers of these sizes, all standard normal."""
    return [
        (normal(generator, d_in, d_out, dtype=dtype), normal(generator, d_out, dtype=dtype))
        for d_in, d_out in pairwise(sizes)
    ]


def spread(params: Params) -> Params:
    """The same parameters, none of them contiguous."""
    return [(strided(W), strided(b)) for W, b in params]


def to_numpy(value: Any) -> Any:
    """The same data with NumPy arrays for tensors."""
    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {name: to_numpy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(to_numpy(item) for item in value)
    return value
