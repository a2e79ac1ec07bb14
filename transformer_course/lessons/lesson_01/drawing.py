"""Parameters of networks, as tensors or NumPy arrays, and what is special about some networks."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, aspects
from cellcheck.authoring.arrays import as_tensor
from cellcheck.authoring.draw import normal
from transformer_course.lessons.aspects import special

Params = list[tuple[torch.Tensor, torch.Tensor]]  # [(W, b), ...]
SINGLE_LAYER = special("a single layer")
WIDTH_ONE = special("layers of width one")


def learning(weight: float) -> tuple[Aspect, Aspect]:
    """That gradients flow, where it is half of what an exercise is about; a slip in the dtype costs little of it."""
    everywhere = aspects.also(
        "gradients in each case",
        "gradients",
        meaning="The gradients are also right in special cases, such as float64 or a single layer.",
    )
    return replace(aspects.gradients(weight), tags=aspects.USUAL), everywhere


def draw_params(generator: np.random.Generator, sizes: list[int], dtype: torch.dtype = torch.float32) -> Params:
    """[(W, b), ...] for layers of these sizes, all standard normal."""
    return [
        (normal(generator, d_in, d_out, dtype=dtype), normal(generator, d_out, dtype=dtype))
        for d_in, d_out in pairwise(sizes)
    ]


def to_tensors(value: Any) -> Any:
    """The same data with tensors for NumPy arrays."""
    if isinstance(value, np.ndarray):
        return as_tensor(value)
    if isinstance(value, dict):
        return {name: to_tensors(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(to_tensors(item) for item in value)
    return value
