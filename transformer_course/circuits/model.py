"""A Transformer of attention alone, whose heads can be watched, and changed on their way.

Source: Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021: one and two layers of attention
without feed-forward networks.
"""

from collections.abc import Callable
from typing import NamedTuple, cast

import torch
from torch import nn

from transformer_course.attention import (
    MultiHeadAttention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_course.blocks import LayerNorm, LearnedPositionalEmbedding
from transformer_course.causal import causal_mask

Edit = Callable[[int, torch.Tensor], torch.Tensor]
"""Gets the number of a layer and the results of its heads, (batch, heads, length, d_head), and returns what the layer
is to go on with."""


class Trace(NamedTuple):
    """What happened in a model while it read some tokens. Each list but the last begins with layer 0."""

    logits: torch.Tensor  # (batch, length, vocab_size)
    weights: list[torch.Tensor]  # (batch, heads, length, length) for each layer
    heads: list[torch.Tensor]  # (batch, heads, length, d_head) for each layer, as the layer went on with them
    stream: list[torch.Tensor]  # (batch, length, d_model): before layer 0, after layer 0, after layer 1 ...


class AttentionOnly(nn.Module):
    """Reads tokens and predicts the next one at each position, with attention and nothing else.

    Each layer is x = x + attention(norm(x)), behind a causal mask.

    >>> model = AttentionOnly(vocab_size=7, max_length=10, d_model=8, num_heads=2, num_layers=2)
    >>> trace = model.trace(torch.tensor([[3, 1, 4, 1, 5]]))
    >>> trace.logits.shape, trace.weights[0].shape, trace.heads[0].shape, len(trace.stream)
    (torch.Size([1, 5, 7]), torch.Size([1, 2, 5, 5]), torch.Size([1, 2, 5, 4]), 3)
    """

    def __init__(self, vocab_size: int, max_length: int, d_model: int, num_heads: int, num_layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(max_length, d_model)
        self.attention = nn.ModuleList(MultiHeadAttention(d_model, num_heads) for _ in range(num_layers))
        self.norms = nn.ModuleList(LayerNorm(d_model) for _ in range(num_layers))
        self.readout = nn.Linear(d_model, vocab_size)
        self.max_length, self.num_heads = max_length, num_heads

    def forward(self, tokens: torch.Tensor, edit: Edit | None = None) -> torch.Tensor:
        """The logits, (batch, length, vocab_size). What `edit` does to the heads: see `Edit`."""
        return self.trace(tokens, edit).logits

    def trace(self, tokens: torch.Tensor, edit: Edit | None = None) -> Trace:
        """Reads the tokens, (batch, length), and notes everything on the way."""
        mask = causal_mask(tokens.shape[1]).to(tokens.device)
        x: torch.Tensor = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        noted_weights, noted_heads, stream = [], [], [x]
        for number, (layer, norm) in enumerate(zip(self.attention, self.norms, strict=True)):
            attention = cast(MultiHeadAttention, layer)
            normalised = norm(x)
            query, key, value = (
                split_heads(part(normalised), self.num_heads)  # (batch, heads, length, d_head)
                for part in (attention.query, attention.key, attention.value)
            )
            heads, weights = scaled_dot_product_attention(query, key, value, mask)
            if edit is not None:
                heads = edit(number, heads)
            x = x + attention.output(merge_heads(heads))
            noted_weights.append(weights)
            noted_heads.append(heads)
            stream.append(x)
        return Trace(self.readout(x), noted_weights, noted_heads, stream)
