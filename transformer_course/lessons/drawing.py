"""Drawing what Transformers are made of: the weights of attention layers, norms and feed-forwards; masks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.draw import linear, normal

Inputs = dict[str, Any]
"""What a case's inputs are drawn as."""


def norm(
    generator: np.random.Generator, name: str, d_model: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a LayerNorm by dotted name: a stretch away from 1, and a shift."""
    dot = f"{name}." if name else ""
    return {
        f"{dot}weight": 1 + normal(generator, d_model, dtype=dtype) / 2,
        f"{dot}bias": normal(generator, d_model, dtype=dtype) / 2,
    }


def attention(
    generator: np.random.Generator,
    name: str,
    d_model: int,
    dtype: torch.dtype = torch.float32,
    layers: Sequence[str] = ("query", "key", "value", "output"),
) -> dict[str, torch.Tensor]:
    """Weights of an attention layer by dotted name; `name` may be empty."""
    dot = f"{name}." if name else ""
    drawn: dict[str, torch.Tensor] = {}
    for layer in layers:
        drawn |= linear(generator, f"{dot}{layer}", d_model, d_model, dtype)
    return drawn


def feed_forward(
    generator: np.random.Generator, name: str, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a FeedForward by dotted name; `name` may be empty."""
    dot = f"{name}." if name else ""
    return linear(generator, f"{dot}linear_in", d_model, d_ff, dtype) | linear(
        generator, f"{dot}linear_out", d_ff, d_model, dtype
    )


def mask(generator: np.random.Generator, *shape: int) -> torch.Tensor:
    """A boolean mask: of three keys or more, every row allows at least two and hides at least one."""
    rows = (generator.random(shape) < 0.6).reshape(-1, shape[-1])
    for row in rows:
        first, *others = generator.permutation(shape[-1])
        row[first] = True
        if others:
            row[others.pop()] = False
        if others:
            row[others.pop()] = True
    return torch.from_numpy(rows.reshape(shape))


def with_an_empty_row(allowed: torch.Tensor) -> torch.Tensor:
    """The same mask, in which one row, in the last entry of the batch, allows nothing."""
    emptied = allowed.clone()
    emptied[(-1,) * (emptied.dim() - 2) + (0,)] = False
    return emptied


def padding(generator: np.random.Generator, batch: int, length: int) -> torch.Tensor:
    """What a padding mask looks like: (batch, 1, 1, length), each row True at first, at least twice, then False.

    The length is at least 3. Where there is a choice, and there are two rows, not all rows are the same.
    """
    choices = np.arange(2, length)
    real = generator.choice(choices, size=batch, replace=batch > len(choices))
    while batch > 1 < len(choices) and len(set(real)) == 1:
        real = generator.choice(choices, size=batch)
    return torch.from_numpy(np.arange(length) < real[:, None])[:, None, None, :]
