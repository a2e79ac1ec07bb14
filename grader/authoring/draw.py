"""Drawing inputs: every dimension different from the others, from a seeded generator."""

from __future__ import annotations

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
