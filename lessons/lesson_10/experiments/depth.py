"""How large the gradient is at each depth of a fresh stack: with residuals and norms, and without."""

from collections.abc import Callable

import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import EncoderBlock, FeedForward
from course.paper.layers import EncoderLayer

D_MODEL, HEADS, D_FF, LENGTH = 32, 4, 64, 8


class _Bare(nn.Module):
    """Attention, then a feed-forward network, with nothing around them."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(D_MODEL, HEADS)
        self.feed_forward = FeedForward(D_MODEL, D_FF)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.feed_forward(self.attention(x, x, x)[0])
        return result


STACKS: dict[str, Callable[[], nn.Module]] = {
    "pre-norm, residual": lambda: EncoderBlock(D_MODEL, HEADS, D_FF),
    "post-norm, residual": lambda: EncoderLayer(D_MODEL, HEADS, D_FF, 0.0),
    "no norm, no residual": _Bare,
}


def gradient_by_depth(layers: int = 8, seed: int = 0) -> dict[str, list[float]]:
    """For each kind of stack, the norm of the gradient of all weights of layer 1, 2, ..., before any training.

    x is drawn at random, and so is the direction in which the output should move.
    """
    found = {}
    for name, make in STACKS.items():
        torch.manual_seed(seed)
        blocks = nn.ModuleList(make() for _ in range(layers))
        x = torch.randn(16, LENGTH, D_MODEL)
        wanted = torch.randn(16, LENGTH, D_MODEL)
        for block in blocks:
            x = block(x)
        (x * wanted).mean().backward()  # type: ignore[no-untyped-call]
        found[name] = [float(nn.utils.get_total_norm([p.grad for p in b.parameters()])) for b in blocks]  # type: ignore[misc]
    return found
