"""Decoder blocks as people write them: a right one, of which mistakes change one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import FeedForward, LayerNorm
from course.seq2seq import CrossAttention

Mask = torch.Tensor | None
Forward = Callable[[Any, torch.Tensor, torch.Tensor, Mask, Mask], Any]


class Block(nn.Module):
    """The right block, its parts made in another order."""

    self_attention: Any
    cross_attention: Any
    feed_forward: Any

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm3, self.norm2, self.norm1 = (nn.LayerNorm(d_model) for _ in range(3))
        self.feed_forward = FeedForward(d_model, d_ff)
        self.cross_attention = CrossAttention(d_model, num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, x: Any, encoder_states: Any, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        x = x + self.own(self.norm1(x), self_mask)
        x = x + self.cross(self.norm2(x), encoder_states, encoder_mask)
        return x + self.feed_forward(self.norm3(x))

    def own(self, x: Any, mask: Mask) -> Any:
        return self.self_attention(x, x, x, mask)[0]

    def cross(self, x: Any, encoder_states: Any, mask: Mask) -> Any:
        return self.cross_attention(x, encoder_states, mask)[0]


def going(forward: Forward) -> type[Block]:
    """A block with another forward."""

    def go(self: Any, x: Any, encoder_states: Any, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        return forward(self, x, encoder_states, self_mask, encoder_mask)

    return type("DecoderBlock", (Block,), {"forward": go})


def with_members(**members: Any) -> type[Block]:
    """A block with other members."""
    return type("DecoderBlock", (Block,), members)


def making(make: Callable[[Any, int, int, int], None]) -> type[Block]:
    """A block in which something is made otherwise."""

    def init(self: Any, d_model: int, num_heads: int, d_ff: int) -> None:
        Block.__init__(self, d_model, num_heads, d_ff)
        make(self, d_model, num_heads, d_ff)

    return type("DecoderBlock", (Block,), {"__init__": init})


def cross_first(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + block.cross(block.norm1(x), states, encoder_mask)
    x = x + block.own(block.norm2(x), self_mask)
    return x + block.feed_forward(block.norm3(x))


def cross_first_own_norms(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + block.cross(block.norm2(x), states, encoder_mask)
    x = x + block.own(block.norm1(x), self_mask)
    return x + block.feed_forward(block.norm3(x))


def feed_forward_between(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + block.own(block.norm1(x), self_mask)
    x = x + block.feed_forward(block.norm2(x))
    return x + block.cross(block.norm3(x), states, encoder_mask)


def post_norm(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = block.norm1(x + block.own(x, self_mask))
    x = block.norm2(x + block.cross(x, states, encoder_mask))
    return block.norm3(x + block.feed_forward(x))


def no_residuals(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = block.own(block.norm1(x), self_mask)
    x = block.cross(block.norm2(x), states, encoder_mask)
    return block.feed_forward(block.norm3(x))


def no_residual_around(which: int) -> Forward:
    """One of the three steps replaces x."""

    def forward(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
        x = (0 if which == 1 else x) + block.own(block.norm1(x), self_mask)
        x = (0 if which == 2 else x) + block.cross(block.norm2(x), states, encoder_mask)
        return (0 if which == 3 else x) + block.feed_forward(block.norm3(x))

    return forward


def without_step(which: int) -> Forward:
    """One of the three steps is left out."""

    def forward(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
        x = x if which == 1 else x + block.own(block.norm1(x), self_mask)
        x = x if which == 2 else x + block.cross(block.norm2(x), states, encoder_mask)
        return x if which == 3 else x + block.feed_forward(block.norm3(x))

    return forward


def norms(first: str, second: str, third: str) -> Forward:
    """Other norms than norm1, norm2, norm3; "" stands for none."""

    def forward(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
        at = [getattr(block, name) if name else nn.Identity() for name in (first, second, third)]
        x = x + block.own(at[0](x), self_mask)
        x = x + block.cross(at[1](x), states, encoder_mask)
        return x + block.feed_forward(at[2](x))

    return forward


def normed_stream(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = block.norm1(x)
    x = x + block.own(x, self_mask)
    x = block.norm2(x)
    x = x + block.cross(x, states, encoder_mask)
    x = block.norm3(x)
    return x + block.feed_forward(x)


def in_parallel(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    own = block.own(block.norm1(x), self_mask)
    cross = block.cross(block.norm2(x), states, encoder_mask)
    return x + own + cross + block.feed_forward(block.norm3(x))


def input_added_throughout(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    y = x + block.own(block.norm1(x), self_mask)
    y = x + block.cross(block.norm2(y), states, encoder_mask)
    return x + block.feed_forward(block.norm3(y))


def keys_not_normed(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + block.self_attention(block.norm1(x), x, x, self_mask)[0]
    x = x + block.cross(block.norm2(x), states, encoder_mask)
    return x + block.feed_forward(block.norm3(x))


def cross_asks_the_old_x(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    normed = block.norm1(x)
    x = x + block.own(normed, self_mask)
    x = x + block.cross(normed, states, encoder_mask)
    return x + block.feed_forward(block.norm3(x))


def in_place(block: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x += block.own(block.norm1(x), self_mask)
    x = x + block.cross(block.norm2(x), states, encoder_mask)
    return x + block.feed_forward(block.norm3(x))


def joined(self_mask: Mask, encoder_mask: Mask) -> Mask:
    """The first of two masks that is there."""
    return encoder_mask if self_mask is None else self_mask


class WithMultiHeadAttention(Block):
    """A MultiHeadAttention does the cross-attention."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__(d_model, num_heads, d_ff)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)

    def cross(self, x: Any, encoder_states: Any, mask: Mask) -> Any:
        return self.cross_attention(x, encoder_states, encoder_states, mask=mask)[0]


class WithSequential(Block):
    """The feed-forward network as a Sequential."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__(d_model, num_heads, d_ff)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))


class Stepwise(nn.Module):
    """A helper for "normed before and added to x", and the course's own norms."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, name: str = "block") -> None:
        super().__init__()
        self.name = name
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", LayerNorm(d_model))
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = CrossAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)

    def step(self, x: Any, norm: Any, layer: Callable[[Any], Any]) -> Any:
        return x + layer(norm(x))

    def forward(self, x: Any, encoder_states: Any, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        x = self.step(x, self.norm1, lambda y: self.self_attention(y, y, y, mask=self_mask)[0])
        x = self.step(x, self.norm2, lambda y: self.cross_attention(y, encoder_states, encoder_mask=encoder_mask)[0])
        return self.step(x, self.norm3, self.feed_forward)
