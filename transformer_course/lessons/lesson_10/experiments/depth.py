"""How large the gradient is at each depth of a fresh stack: with norms and residuals, with one of them, with neither.

And what the size of the first weights has to do with it.
"""

import math

import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import FeedForward, LayerNorm

D_MODEL, HEADS, D_FF, LENGTH = 32, 4, 64, 8


class _Block(nn.Module):
    """Attention, then a feed-forward network: each with a norm before it, a residual around it, both or neither."""

    def __init__(self, norm: bool, residual: bool) -> None:
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(D_MODEL, HEADS), FeedForward(D_MODEL, D_FF)
        self.norms = nn.ModuleList(LayerNorm(D_MODEL) if norm else nn.Identity() for _ in range(2))
        self.residual = residual

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before, between = self.norms
        y = before(x)
        y = self.attention(y, y, y)[0]
        x = x + y if self.residual else y
        y = self.feed_forward(between(x))
        result: torch.Tensor = x + y if self.residual else y
        return result


STACKS: dict[str, tuple[bool, bool, float]] = {
    "neither": (False, False, 1.0),
    "norm only": (True, False, 1.0),
    "residual only": (False, True, 1.0),
    "norm and residual": (True, True, 1.0),
    "neither, larger weights": (False, False, math.sqrt(3)),
}
"""For each stack: with norms, with residuals, and what its first weights are multiplied by."""


def gradient_by_depth(layers: int = 8, seed: int = 0) -> dict[str, list[float]]:
    """For each kind of stack, the norm of the gradient of all weights of layer 1, 2, ..., before any training.

    x is drawn at random, and so is the direction in which the output should move.
    """
    norms = {}
    for name, (norm, residual, size) in STACKS.items():
        torch.manual_seed(seed)
        blocks = nn.ModuleList(_Block(norm, residual) for _ in range(layers))
        with torch.no_grad():
            for part in blocks.modules():
                if isinstance(part, nn.Linear):
                    part.weight.mul_(size)
        x = torch.randn(16, LENGTH, D_MODEL)
        wanted = torch.randn(16, LENGTH, D_MODEL)
        for block in blocks:
            x = block(x)
        (x * wanted).mean().backward()  # type: ignore[no-untyped-call]
        norms[name] = [float(nn.utils.get_total_norm([p.grad for p in b.parameters()])) for b in blocks]  # type: ignore[misc]
    return norms


def lost(norms: list[float]) -> float:
    """How many times smaller the first layer's gradient is than the last one's."""
    return norms[-1] / norms[0]
