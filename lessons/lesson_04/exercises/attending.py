"""Cross-attention as people write it: a right one by hand, of which mistakes change one thing."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from course.attention import MultiHeadAttention, merge_heads, split_heads

Mask = torch.Tensor | None


class Attending(nn.Module):
    """The right layer, written out."""

    bias = True

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.output = nn.Linear(d_model, d_model, bias=self.bias)
        self.value = nn.Linear(d_model, d_model, bias=self.bias)
        self.key = nn.Linear(d_model, d_model, bias=self.bias)
        self.query = nn.Linear(d_model, d_model, bias=self.bias)

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        asking, offering, giving = self.roles(decoder_states, encoder_states)
        query, key, value = self.query(asking), self.key(offering), self.value(giving)
        query, key, value = (self.split(x) for x in (query, key, value))
        scores = self.scored(query, key)
        weights = self.weighed(scores, encoder_mask)
        return self.given(self.output(self.merge(weights @ value)), weights)

    def roles(self, decoder_states: Any, encoder_states: Any) -> tuple[Any, Any, Any]:
        """Whose states are queries, keys and values."""
        return decoder_states, encoder_states, encoder_states

    def split(self, x: Any) -> Any:
        return split_heads(x, self.num_heads)

    def merge(self, x: Any) -> Any:
        return merge_heads(x)

    def scored(self, query: Any, key: Any) -> Any:
        return query @ key.mT / math.sqrt(query.shape[-1])

    def weighed(self, scores: Any, mask: Mask) -> Any:
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -1e9))
        return scores.softmax(-1)

    def given(self, output: Any, weights: Any) -> Any:
        return output, weights


def attending(**members: Any) -> type[Attending]:
    """The right layer with other members."""
    return type("CrossAttention", (Attending,), members)


class Inherited(MultiHeadAttention):
    """A MultiHeadAttention with another forward."""

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:  # type: ignore[override]
        return super().forward(decoder_states, encoder_states, encoder_states, encoder_mask)


class OtherName(nn.Module):
    """A layer inside, with a scale that nobody asked for."""

    def __init__(self, d_model: int, num_heads: int, scale: float = 1.0) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))
        self.mha = MultiHeadAttention(d_model, num_heads)

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        return self.mha(queries=decoder_states, keys=encoder_states, values=encoder_states, mask=encoder_mask)


class Fused(Attending):
    """PyTorch's own function for the output, and the weights beside it."""

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        pairs = ((self.query, decoder_states), (self.key, encoder_states), (self.value, encoder_states))
        query, key, value = (split_heads(layer(x), self.num_heads) for layer, x in pairs)
        weights = self.weighed(self.scored(query, key), encoder_mask)
        if encoder_mask is None or bool(encoder_mask.any(-1).all()):
            heads = nn.functional.scaled_dot_product_attention(query, key, value, encoder_mask)
        else:
            heads = weights @ value
        return self.output(merge_heads(heads)), weights


class Einsum(Attending):
    """The axes by name."""

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        batch, length, d_model = decoder_states.size()
        shape = (-1, self.num_heads, d_model // self.num_heads)
        query = self.query(decoder_states).unflatten(-1, shape[1:])
        key = self.key(encoder_states).unflatten(-1, shape[1:])
        value = self.value(encoder_states).unflatten(-1, shape[1:])
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key) * shape[-1] ** -0.5
        if encoder_mask is not None:
            scores = scores.masked_fill(encoder_mask.logical_not(), torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, -1)
        return self.output(torch.einsum("bhqk,bkhd->bqhd", weights, value).reshape(batch, length, d_model)), weights


class HeadByHead(Attending):
    """A loop over the heads."""

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        query, key, value = self.query(decoder_states), self.key(encoder_states), self.value(encoder_states)
        size = (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
        mask = torch.ones(size, dtype=torch.bool) if encoder_mask is None else encoder_mask.expand(size)
        outputs, weights = [], []
        for head, (q, k, v) in enumerate(zip(*(x.chunk(self.num_heads, -1) for x in (query, key, value)), strict=True)):
            scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask[:, head], -1e30)
            weights.append(scores.softmax(-1))
            outputs.append(weights[-1] @ v)
        return self.output(torch.cat(outputs, -1)), torch.stack(weights, dim=1)


class OtherNames(nn.Module):
    """Right, under names of its own."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_v, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, decoder_states: Any, encoder_states: Any, encoder_mask: Mask = None) -> Any:
        pairs = ((self.w_q, decoder_states), (self.w_k, encoder_states), (self.w_v, encoder_states))
        query, key, value = (split_heads(layer(x), self.num_heads) for layer, x in pairs)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        if encoder_mask is not None:
            scores = scores.masked_fill(~encoder_mask, -1e9)
        weights = scores.softmax(-1)
        return self.w_o(merge_heads(weights @ value)), weights
