"""`MultiHeadAttention` in steps, which mistakes replace one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.attention import MultiHeadAttention, merge_heads, split_heads
from course.numpy_transformer.functions import attention_backward, softmax


class Steps(MultiHeadAttention):
    """The same in steps that mistakes replace one by one."""

    def scale(self, d_head: int) -> float:
        return float(d_head**-0.5)

    def masked(self, scores: np.ndarray, mask: np.ndarray) -> Any:
        return np.where(mask, scores, np.array(-1e9, dtype=scores.dtype))

    def split(self, x: np.ndarray) -> Any:
        return split_heads(x, self.num_heads)

    def merge(self, heads: np.ndarray) -> Any:
        return merge_heads(heads)

    def weigh(self, scores: np.ndarray, mask: np.ndarray | None) -> Any:
        return softmax(scores if mask is None else self.masked(scores, mask))

    def forward(self, queries: Any, keys: Any, values: Any, mask: np.ndarray | None = None) -> Any:
        q, k, v = self.query.forward(queries), self.key.forward(keys), self.value.forward(values)
        q, k, v = self.split(q), self.split(k), self.split(v)
        weights = self.weigh(q @ k.mT * self.scale(q.shape[-1]), mask)
        self.seen = q, k, v, weights
        return self.output.forward(self.merge(weights @ v)), weights

    def heads_back(self, gradient: np.ndarray) -> Any:
        return attention_backward(*self.seen, gradient)

    def backward(self, gradient: np.ndarray) -> Any:
        parts = self.heads_back(split_heads(self.output.backward(gradient), self.num_heads))
        layers = self.query, self.key, self.value
        return tuple(layer.backward(merge_heads(part)) for layer, part in zip(layers, parts, strict=True))
