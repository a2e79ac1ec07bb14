"""Attention layers with several heads, right ones and wrong ones: `MultiHeadAttention` as people write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.attention import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads

Mask = torch.Tensor | None


class Attention(nn.Module):
    """The right layer; mistakes change one thing about it."""

    query: nn.Module
    key: nn.Module
    value: nn.Module
    output: nn.Module
    bias = True
    layers: tuple[str, ...] = ("query", "key", "value")
    start: Any = staticmethod(lambda layer: None)

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        for name in ("query", "key", "value", "output"):
            layer = nn.Linear(d_model, d_model, bias=self.bias)
            self.start(layer)
            self.add_module(name, layer)

    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Any:
        found, weights = self.heads(queries, keys, values, mask)
        return self.output(found), weights

    def heads(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask) -> Any:
        asked = zip(self.layers, (queries, keys, values), strict=True)
        q, k, v = [self.split(getattr(self, name)(x)) for name, x in asked]
        found, weights = self.attend(q, k, v, mask)
        return self.merge(found), weights

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return split_heads(x, self.num_heads)

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask) -> Any:
        return scaled_dot_product_attention(q, k, v, mask)

    def merge(self, x: torch.Tensor) -> torch.Tensor:
        return merge_heads(x)


def made(**members: Any) -> type[Attention]:
    """A layer with other members."""
    if "start" in members:
        members["start"] = staticmethod(members["start"])
    return type("MultiHeadAttention", (Attention,), members)


def forwards(forward: Callable[..., Any]) -> type[Attention]:
    """A layer with another forward."""
    return made(forward=forward)


def attending(attend: Callable[..., Any]) -> type[Attention]:
    """A layer with another attention, of query, key, value and mask, each cut into heads."""
    return made(attend=lambda self, q, k, v, mask: attend(q, k, v, mask))


def with_a_mask(change: Callable[[torch.Tensor], torch.Tensor]) -> type[Attention]:
    """A layer that changes its mask first."""
    return attending(
        lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, None if mask is None else change(mask))
    )


def merged(x: torch.Tensor) -> torch.Tensor:
    """Heads side by side."""
    return torch.cat(list(x.unbind(1)), dim=-1)


def squeezed(self: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask = None) -> Any:
    """Without the axes of length one."""
    return tuple(each.squeeze() for each in Attention.forward(self, q, k, v, mask))


class OneHead(Attention):
    """Forgets to cut; its weights are repeated for each head."""

    def heads(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask) -> Any:
        if mask is not None and mask.dim() == 4:
            mask = mask[:, 0]
        q, k, v = self.query(queries), self.key(keys), self.value(values)
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        return found, weights[:, None].expand(-1, self.num_heads, -1, -1)


class DealtOut(Attention):
    """Deals the columns out in turn, and collects them in turn."""

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(*x.shape[:2], -1, self.num_heads).permute(0, 3, 1, 2)

    def merge(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1).flatten(2)


class SelfOnly(Attention):
    """Looks at its own row, whatever it is given."""

    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Any:
        return super().forward(queries, queries, queries, mask)


class QueryLength(Attention):
    """Cuts keys and values with the length of the queries."""

    def heads(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask) -> Any:
        batch, length, d_model = queries.shape

        def cut(x: torch.Tensor) -> torch.Tensor:
            return x.reshape(batch, length, self.num_heads, d_model // self.num_heads).transpose(1, 2)

        q, k, v = cut(self.query(queries)), cut(self.key(keys)), cut(self.value(values))
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        return merge_heads(found), weights


class WholeMasks(Attention):
    """Wants a mask for every head by itself."""

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask) -> Any:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            hidden = torch.stack([~mask[:, h] for h in range(self.num_heads)], dim=1)
            scores = scores.masked_fill(hidden, -1e9)
        weights = scores.softmax(-1)
        return weights @ v, weights


class OtherNames(nn.Module):
    """Keeps its layers under other names."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Any:
        q, k, v = [
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.w_q, queries), (self.w_k, keys), (self.w_v, values))
        ]
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.w_o(merge_heads(found)), weights


class ByEinsum(Attention):
    """Names the axes, and cuts nothing."""

    def heads(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask) -> Any:
        def cut(x: torch.Tensor) -> torch.Tensor:
            return x.reshape(*x.shape[:2], self.num_heads, -1)

        q, k, v = cut(self.query(queries)), cut(self.key(keys)), cut(self.value(values))
        weights = masked_softmax(torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5, mask)
        return torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2), weights


class HeadByHead(Attention):
    """One head after the other, each with its block of columns."""

    def heads(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask) -> Any:
        q, k, v = self.query(queries), self.key(keys), self.value(values)
        width = q.shape[-1] // self.num_heads
        scores = [q[..., i : i + width] @ k[..., i : i + width].mT / width**0.5 for i in range(0, q.shape[-1], width)]
        weights = masked_softmax(torch.stack(scores, dim=1), mask)
        found = [weights[:, h] @ v[..., h * width : (h + 1) * width] for h in range(self.num_heads)]
        return torch.cat(found, dim=-1), weights


class HeadsInTheBatch(Attention):
    """Batch and heads share an axis while attention works."""

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask) -> Any:
        batch, heads, length, _ = q.shape
        if mask is not None:
            mask = mask.expand(batch, heads, length, k.shape[2]).flatten(0, 1)
        found, weights = scaled_dot_product_attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), mask)
        return torch.unflatten(found, 0, (batch, heads)), torch.unflatten(weights, 0, (batch, heads))


class ManyLayers(nn.Module):
    """Makes its layers in another order, keeps sizes in a buffer, and knows options that are off."""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.register_buffer("scale", torch.tensor(self.d_head**-0.5, dtype=torch.float64))

    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Any:
        batch, key_length = len(queries), keys.size(1)
        q = self.query(queries).view(batch, -1, self.num_heads, self.d_head).transpose(1, 2)
        k = self.key(keys).view(batch, key_length, self.num_heads, self.d_head).transpose(1, 2)
        v = self.value(values).view(batch, key_length, self.num_heads, self.d_head).transpose(1, 2)
        weights = masked_softmax((q * float(self.d_head) ** -0.5) @ k.transpose(-2, -1), mask)
        found = self.dropout(weights) @ v
        return self.output(found.transpose(1, 2).contiguous().view(batch, -1, self.num_heads * self.d_head)), weights
