"""Attention, from a softmax with a mask to several heads side by side.

Throughout, a mask is boolean, True = may attend, and attention returns (output, weights).
Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.2.
"""

import math

import torch
from torch import nn


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Softmax over the last axis, in which the entries that `mask` hides get the weight
    0.

    `scores` is (..., keys). `mask` is boolean, broadcasts to the scores' shape, and is
    True where a key may be looked at; None hides nothing. The result has the shape of
    `scores`, and each of its rows sums to 1. The exception is a row in which nothing is
    allowed: any finite numbers will do there.

    >>> masked_softmax(torch.tensor([[1.0, 1.0, 9.0]]), torch.tensor([[True, True, False]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    ### BEGIN SOLUTION
    if mask is None:
        return torch.softmax(scores, dim=-1)
    # The lowest finite number, not -inf: a row with everything hidden would be -inf minus -inf, which is NaN.
    hidden = ~mask
    weights = torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1)
    return weights.masked_fill(hidden, 0.0)  # where everything is hidden, all weights are 0
    ### END SOLUTION


def scaled_dot_product_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Each query takes a weighted mean of the values; the weights say how well it
    matches each key.

    `query` is (..., query_length, d), `key` (..., key_length, d), `value`
    (..., key_length, d_value). `mask` broadcasts to (..., query_length, key_length).
    Returns (output, weights), of shapes (..., query_length, d_value) and
    (..., query_length, key_length). The scores are the dot products divided by the
    square root of d.

    >>> query = torch.tensor([[[1.0, 0.0]]])  # one query
    >>> key = torch.tensor([[[0.0, 5.0], [0.0, -5.0]]])  # it matches both keys equally well
    >>> value = torch.tensor([[[10.0], [30.0]]])
    >>> scaled_dot_product_attention(query, key, value)
    (tensor([[[20.]]]), tensor([[[0.5000, 0.5000]]]))

    Source: Vaswani et al. 2017, section 3.2.1, equation 1.
    """
    ### BEGIN SOLUTION
    d = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(d)  # (..., query_length, key_length)
    weights = masked_softmax(scores, mask)
    return weights @ value, weights  # (..., query_length, d_value)
    ### END SOLUTION


class SelfAttention(nn.Module):
    """One attention layer in which every token looks at all tokens of its row, itself
    included.

    Three Linear layers from d_model to d_model, with bias: `self.query`, `self.key`,
    `self.value`. They turn the same x into queries, keys and values.
    `forward(x, mask=None)`: x is (batch, length, d_model), the mask broadcasts to
    (batch, length, length). Returns (output, weights), (batch, length, d_model) and
    (batch, length, length).

    >>> layer = SelfAttention(d_model=8)
    >>> output, weights = layer(torch.randn(2, 5, 8))
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 5, 5]))
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        return scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)
        ### END SOLUTION


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Cuts each token's vector into one part per head: (batch, length, d_model) ->
    (batch, heads, length, d_head).

    d_head is d_model / num_heads. Head h gets the h-th block of columns of every token.

    >>> x = torch.tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]])  # (1, 2, 4): two tokens
    >>> split_heads(x, num_heads=2)  # (1, 2, 2, 2): head 0 gets the left halves, head 1 the right ones
    tensor([[[[1, 2],
              [5, 6]],
    <BLANKLINE>
             [[3, 4],
              [7, 8]]]])

    Raises:
        ValueError: when `num_heads` does not divide d_model.
    """
    ### BEGIN SOLUTION
    batch, length, d_model = x.shape
    if d_model % num_heads != 0:
        raise ValueError(f"d_model = {d_model} can't be cut into {num_heads} heads of equal size")
    parts = x.reshape(batch, length, num_heads, d_model // num_heads)
    return parts.transpose(1, 2)  # (batch, heads, length, d_head)
    ### END SOLUTION


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Puts the heads side by side again: (batch, heads, length, d_head) ->
    (batch, length, d_model).

    It undoes `split_heads`.

    >>> x = torch.arange(8).reshape(1, 2, 4)
    >>> merge_heads(split_heads(x, num_heads=2)).equal(x)
    True
    """
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(start_dim=2)  # (batch, length, heads, d_head) -> (batch, length, d_model)
    ### END SOLUTION


class MultiHeadAttention(nn.Module):
    """Several attention heads side by side, each with its own part of the vectors,
    mixed by a last Linear layer.

    Four Linear layers from d_model to d_model, with bias: `self.query`, `self.key`,
    `self.value` before the heads and `self.output` after them. Head h works with the
    h-th block of columns.
    `forward(queries, keys, values, mask=None)`: queries are
    (batch, query_length, d_model), keys and values (batch, key_length, d_model). The
    mask broadcasts to (batch, heads, query_length, key_length). Returns
    (output, weights), (batch, query_length, d_model) and
    (batch, heads, query_length, key_length).

    >>> layer = MultiHeadAttention(d_model=8, num_heads=2)
    >>> words = torch.randn(3, 5, 8)
    >>> output, weights = layer(words, words, words)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 2, 5, 5]))

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.num_heads = num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        query = split_heads(self.query(queries), self.num_heads)  # (batch, heads, query_length, d_head)
        key = split_heads(self.key(keys), self.num_heads)  # (batch, heads, key_length, d_head)
        value = split_heads(self.value(values), self.num_heads)  # (batch, heads, key_length, d_head)
        heads, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(heads)), weights  # (batch, query_length, d_model)
        ### END SOLUTION


def padding_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """Which keys are real tokens? (batch, length) -> (batch, 1, 1, length), True where
    the token isn't padding.

    Padding may be anywhere in a row. The two axes of size 1 stand for "every head" and
    "every query": the mask broadcasts to (batch, heads, query_length, key_length).

    >>> padding_mask(torch.tensor([[4, 7, 0]]))
    tensor([[[[ True,  True, False]]]])
    """
    ### BEGIN SOLUTION
    return (tokens != pad_id)[:, None, None, :]
    ### END SOLUTION
