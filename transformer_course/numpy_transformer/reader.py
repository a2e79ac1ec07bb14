"""A small encoder that answers a question with one token, put together from anybody's parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_course.numpy_transformer import blocks, layers


@dataclass(frozen=True)
class Parts:
    """The classes that a model is made of."""

    Embedding: Any = layers.Embedding
    TransformerBlock: Any = blocks.TransformerBlock
    LayerNorm: Any = layers.LayerNorm
    Linear: Any = layers.Linear


class Reader:
    """Tokens (batch, length) -> logits (batch, vocab_size), read off at the first position. Padding, id 0, is hidden.

    >>> model = Reader(vocab_size=16, max_length=4, d_model=8, num_heads=2, d_ff=16, num_layers=1)
    >>> logits = model.forward(np.array([[11, 5, 8, 10]]))
    >>> model.backward(np.ones_like(logits))
    >>> logits.shape, model.embedding.weight_grad.shape
    ((1, 16), (16, 8))
    """

    def __init__(
        self,
        vocab_size: int,
        max_length: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        parts: Parts | None = None,
    ) -> None:
        parts = parts or Parts()
        self.embedding, self.positions = parts.Embedding(vocab_size, d_model), parts.Embedding(max_length, d_model)
        self.blocks = [parts.TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.final_norm, self.output = parts.LayerNorm(d_model), parts.Linear(d_model, vocab_size)

    def forward(self, tokens: np.ndarray) -> np.ndarray:
        """Embed, run through the blocks, normalise the first position, and project it to logits."""
        x = self.embedding.forward(tokens) + self.positions.forward(np.arange(tokens.shape[1]))
        mask = None if tokens.all() else (tokens != 0)[:, None, None, :]
        for block in self.blocks:
            x = block.forward(x, mask)  # (batch, length, d_model)
        self.shape = x.shape
        logits: np.ndarray = self.output.forward(self.final_norm.forward(x[:, 0]))
        return logits

    def backward(self, gradient: np.ndarray) -> None:
        """The same steps, last one first. Only the first position was read, so only it gets a gradient."""
        first = self.final_norm.backward(self.output.backward(gradient))  # (batch, d_model)
        gradient = np.zeros(self.shape, dtype=first.dtype)
        gradient[:, 0] = first
        for block in reversed(self.blocks):
            gradient = block.backward(gradient)
        self.embedding.backward(gradient)
        self.positions.backward(gradient.sum(axis=0))  # one row of positions served the whole batch
