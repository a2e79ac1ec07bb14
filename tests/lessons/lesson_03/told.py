"""What is told of wrong answers that match no mistake: which weights, which layers, which heads they take."""

from __future__ import annotations

import torch

from tests.lessons.words import Told
from transformer_course import attention, blocks

Mask = torch.Tensor | None
Pair = tuple[torch.Tensor, torch.Tensor]


def true_hides(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return attention.masked_softmax(scores, None if mask is None else ~mask)


def over_the_rows(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return scores.softmax(0) if mask is None else scores.masked_fill(~mask, -torch.inf).softmax(0)


def minus_five(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return (scores if mask is None else scores.masked_fill(~mask, -5.0)).softmax(-1)


def exp_as_it_is(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    powers = scores.exp() if mask is None else scores.exp() * mask
    return powers / powers.sum(dim=-1, keepdim=True)


def weights_without_the_mask(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    output, _ = attention.scaled_dot_product_attention(query, key, value, mask)
    return output, attention.scaled_dot_product_attention(query, key, value)[1]


def padding_at_the_end(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    real = tokens != pad_id
    return (real.flip(1).cumsum(dim=1) > 0).flip(1)[:, None, None]


def padding_at_the_start(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return ((tokens != pad_id).cumsum(dim=1) > 0)[:, None, None]


def all_heads_but_the_last(x: torch.Tensor) -> torch.Tensor:
    return attention.merge_heads(x[:, :-1]) if x.shape[1] > 1 else attention.merge_heads(x)


def heads_in_one_column(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(1, 2)


def last_head_on_top(x: torch.Tensor) -> torch.Tensor:
    return x.flip(1).flatten(1, 2)


class FirstRowFixed(blocks.LearnedPositionalEmbedding):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.embedding.weight[: x.shape[1]]
        return x + torch.cat([rows[:1].detach(), rows[1:]])


class KeysForQueries(attention.SelfAttention):
    def forward(self, x: torch.Tensor, mask: Mask = None) -> Pair:
        return attention.scaled_dot_product_attention(self.key(x), self.key(x), self.value(x), mask)


class BareValues(attention.SelfAttention):
    def forward(self, x: torch.Tensor, mask: Mask = None) -> Pair:
        return attention.scaled_dot_product_attention(self.query(x), self.key(x), x, mask)


class LayersInARow(attention.SelfAttention):
    def forward(self, x: torch.Tensor, mask: Mask = None) -> Pair:
        query = self.query(x)
        return attention.scaled_dot_product_attention(query, self.key(query), self.value(x), mask)


class ValuesOfKeys(attention.MultiHeadAttention):
    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Pair:
        return super().forward(queries, keys, keys, mask)


class OneHead(attention.MultiHeadAttention):
    def forward(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: Mask = None) -> Pair:
        if mask is not None:
            mask = mask.expand(*mask.shape[:-2], *(1,) * (3 - mask.dim()), *mask.shape[-2:]).flatten(0, -3)[:1]
        heads = self.query(queries), self.key(keys), self.value(values)
        output, weights = attention.scaled_dot_product_attention(*heads, mask)
        return self.output(output), weights.unsqueeze(1).expand(-1, self.num_heads, -1, -1)


ON_CARDS: list[Told] = [
    ("masked_softmax", minus_five, "Hidden scores become -5, which leaves their keys a weight."),
    (
        "scaled_dot_product_attention",
        weights_without_the_mask,
        "The output is right, and the weights beside it give hidden keys a share.",
    ),
    ("padding_mask", padding_at_the_end, "Only the padding at the end of a row is hidden."),
    ("merge_heads", last_head_on_top, "Your heads stand one below the other, the last one first."),
    ("LearnedPositionalEmbedding", FirstRowFixed, "never get a gradient, so they would never learn: 0."),
    ("SelfAttention", LayersInARow, "Your keys are made by self.key from what self.query makes of x."),
    ("MultiHeadAttention", OneHead, "Your vectors are compared as a whole, as in one head."),
]
UNNAMED: list[Told] = [
    ("masked_softmax", over_the_rows, "Your numbers sum to 1 along axis 0."),
    ("merge_heads", heads_in_one_column, "Your heads stand one below the other. Along which axis"),
    ("SelfAttention", KeysForQueries, "Your queries are made by self.key."),
    ("SelfAttention", BareValues, "Your values go straight from x into the attention, through no layer."),
    ("MultiHeadAttention", ValuesOfKeys, "Your values are made by self.value from keys."),
]
BESIDE: list[Told] = [
    ("masked_softmax", true_hides, "Hidden keys get a weight, and most of those that may be looked at get none."),
    ("masked_softmax", exp_as_it_is, "Where scores are very large, there is NaN in your result."),
    ("padding_mask", padding_at_the_start, "Only the padding at the start of a row is hidden."),
    ("merge_heads", all_heads_but_the_last, "is in your result. Which heads belong in it?"),
]
RIGHT = [
    ("masked_softmax", "masked_fill with -1e9"),
    ("scaled_dot_product_attention", "renormalised"),
    ("padding_mask", "token by token"),
    ("merge_heads", "unbind and hstack"),
    ("LearnedPositionalEmbedding", "looked up for each row"),
    ("SelfAttention", "row by row"),
    ("MultiHeadAttention", "head by head"),
]
