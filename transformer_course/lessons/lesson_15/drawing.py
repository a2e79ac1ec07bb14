"""Drawing what Lesson 15's exercises are tried on: attention, and which positions are asked about."""

import numpy as np
import torch


def attention(
    generator: np.random.Generator, batch: int, heads: int, length: int, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """Weights behind a causal mask, (batch, heads, length, length): each row adds up to 1, and no two are alike."""
    drawn = torch.from_numpy(generator.uniform(0.05, 1.0, (batch, heads, length, length))).tril()
    return (drawn / drawn.sum(dim=-1, keepdim=True)).to(dtype or torch.float32)


def silenced(weights: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """The same weights with zeros where `where` is True; each row adds up to 1 again."""
    left = weights.masked_fill(where, 0.0)
    return left / left.sum(dim=-1, keepdim=True)


def targets(generator: np.random.Generator, batch: int, length: int) -> torch.Tensor:
    """Booleans, (batch, length, length): none in the first half of the first row, one in every other position or
    several, and nothing but the past.
    """
    drawn = torch.from_numpy(generator.random((batch, length, length)) < 0.5).tril()
    for row in range(batch):
        for position in range(length):
            drawn[row, position, int(generator.integers(0, position + 1))] = True
    drawn[0, : (length + 1) // 2] = False
    drawn[-1, -1] = torch.arange(length) < 2  # one position has two, and not all of the past
    return drawn
