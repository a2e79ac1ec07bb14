"""Drawing inputs: every dimension different from the others, from a seeded generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch


def dims(generator: np.random.Generator, count: int, low: int = 2, high: int = 7) -> list[int]:
    """`count` different sizes between `low` and `high`: equal ones hide swapped axes."""
    return [int(n) for n in generator.choice(np.arange(low, high + 1), size=count, replace=False)]


def normal(generator: np.random.Generator, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Standard normal numbers."""
    return torch.from_numpy(generator.standard_normal(shape)).to(dtype)


def integers(generator: np.random.Generator, low: int, high: int, *shape: int) -> torch.Tensor:
    """Whole numbers from `low` to `high - 1`, as int64."""
    return torch.from_numpy(generator.integers(low, high, shape))


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, laid out so that the tensor is not contiguous (`view` fails on it)."""
    wide = torch.empty(*tensor.shape[:-1], 2 * tensor.shape[-1], dtype=tensor.dtype)
    wide[..., ::2] = tensor
    return wide[..., ::2]


def linear(
    generator: np.random.Generator, name: str, d_in: int, d_out: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of an `nn.Linear` by dotted name, sized so that numbers stay near 1 on their way through."""
    return {
        f"{name}.weight": normal(generator, d_out, d_in, dtype=dtype) / d_in**0.5,
        f"{name}.bias": normal(generator, d_out, dtype=dtype) / 2,
    }


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

    The length is at least 3.
    """
    choices = np.arange(2, length)
    real = generator.choice(choices, size=batch, replace=batch > len(choices))
    return torch.from_numpy(np.arange(length) < real[:, None])[:, None, None, :]
