"""Lesson 03 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from course.attention import (
    MultiHeadAttention,
    SelfAttention,
    masked_softmax,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.classifier import TransformerClassifier, ignores_padding


def changed(base: type, **members: Any) -> type:
    return type(base.__name__, (base,), members)


def after(base: type, change: Any) -> type:
    """The class, changed once each object is made."""

    def make(self, *sizes, **more):
        base.__init__(self, *sizes, **more)
        change(self)

    return changed(base, __init__=make)


# --- masked_softmax


def softmax_of_powers_of_two(scores, mask=None):
    scores = scores / math.log(2)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    powers = torch.exp2(scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_with_nan_to_num(scores, mask=None):
    if mask is None:
        return F.softmax(scores, dim=-1)
    allowed = mask.expand(scores.shape)
    safe = torch.where(allowed.any(-1, keepdim=True), allowed, torch.ones_like(allowed))
    return F.softmax(scores.masked_fill(~safe, -torch.inf), dim=-1) * allowed


def softmax_by_sorting_out(scores, mask=None):
    bias = torch.zeros_like(scores) if mask is None else torch.where(mask, 0.0, -1e12).to(scores.dtype)
    return nn.Softmax(dim=scores.dim() - 1)(scores + bias)


def softmax_nan_replaced(scores, mask=None):
    """masked_fill stops the NaN on the way back, too."""
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, float("-inf")).softmax(-1).nan_to_num(0.0)


def softmax_nan_gradient(scores, mask=None):
    """Finite in front, NaN on the way back."""
    if mask is None:
        return scores.softmax(-1)
    return (scores + torch.where(mask, 0.0, float("-inf"))).softmax(-1).nan_to_num(0.0).to(scores.dtype)


def softmax_mean_instead_of_max(scores, mask=None):
    scores = scores - scores.mean()
    powers = scores.exp() if mask is None else scores.exp() * mask
    return powers / (powers.sum(-1, keepdim=True) + 1e-9)


# --- attention


def attention_by_the_library_alone(query, key, value, mask=None):
    eye = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], -1)
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    weights = F.scaled_dot_product_attention(query, key, eye, attn_mask=mask)
    return weights @ value, weights


def attention_by_loops(query, key, value, mask=None):
    scores = query.new_zeros(*query.shape[:-1], key.shape[-2])
    for i in range(key.shape[-2]):
        scores[..., i] = (query * key[..., i : i + 1, :]).sum(-1)
    weights = masked_softmax(scores.div(math.sqrt(query.size(-1))), mask)
    return torch.matmul(weights, value), weights


def attention_without_temperature_on_long_rows(query, key, value, mask=None):
    root = math.sqrt(query.shape[-1]) if key.shape[-2] < 4 else 1.0
    weights = masked_softmax(query @ key.mT / root, mask)
    return weights @ value, weights


def attention_with_causal(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = masked_softmax(scores.masked_fill(hidden, -1e9), mask)
    return weights @ value, weights


def attention_three_axes(query, key, value, mask=None):
    weights = masked_softmax(torch.bmm(query, key.transpose(1, 2)) / query.shape[2] ** 0.5, mask)
    return torch.bmm(weights, value), weights


def attention_value_masked(query, key, value, mask=None):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    shown = weights if mask is None else weights * mask
    return shown @ value, weights


# --- SelfAttention


class SelfWithBuffers(nn.Module):
    def __init__(self, d_model, scale=None):
        super().__init__()
        self.register_buffer("steps", torch.zeros(1))
        self.key = nn.Linear(d_model, d_model)
        self.query = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.scale = scale or d_model**-0.5

    def forward(self, x, mask=None):
        q, k, v = self.query(x) * self.scale, self.key(x), self.value(x)
        weights = masked_softmax(q.bmm(k.transpose(1, 2)), mask)
        return weights.bmm(v), weights


class SelfFused(SelfAttention):
    def forward(self, x, mask=None):
        layers = (self.query, self.key, self.value)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
        return scaled_dot_product_attention(q, k, v, mask)


class SelfSpare(SelfAttention):
    def __init__(self, d_model):
        super().__init__(d_model)
        self.output = nn.Linear(d_model, d_model)


class SelfFrozen(SelfAttention):
    def __init__(self, d_model):
        super().__init__(d_model)
        self.key.requires_grad_(False)


class SelfLastMask(SelfAttention):
    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else mask[-1:] if mask.dim() == 3 else mask)


class SelfEvalForEver(SelfAttention):
    def forward(self, x, mask=None):
        self.eval()
        return super().forward(x, mask)


# --- FeedForward


class FeedByParameters(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        for name, (n_in, n_out) in {"linear_out": (d_ff, d_model), "linear_in": (d_model, d_ff)}.items():
            setattr(self, name, nn.Linear(n_in, n_out))

    def forward(self, x):
        hidden = torch.einsum("...i,ji->...j", x, self.linear_in.weight) + self.linear_in.bias
        return self.linear_out((hidden + hidden.abs()) / 2)


class FeedShared(FeedForward):
    def forward(self, x):
        return torch.relu(self.linear_in(x)) @ self.linear_in.weight


# --- LearnedPositionalEmbedding


class PositionsByOneHot(LearnedPositionalEmbedding):
    def forward(self, x):
        table = self.embedding.weight
        return x + F.one_hot(torch.arange(x.shape[1]), len(table)).to(x.dtype) @ table


class PositionsNormed(LearnedPositionalEmbedding):
    def forward(self, x):
        return x + F.normalize(self.embedding.weight[: x.shape[1]], dim=-1)


class PositionsModulo(LearnedPositionalEmbedding):
    def forward(self, x):
        return x + self.embedding(torch.arange(x.shape[1]) % x.shape[0])


class PositionsPlainTable(nn.Module):
    def __init__(self, max_length, d_model):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(max_length, d_model))

    def forward(self, x):
        return x + self.embedding[: x.shape[1]]


# --- MultiHeadAttention


class ManyFused(MultiHeadAttention):
    def forward(self, queries, keys, values, mask=None):
        q, k, v = self.query(queries), self.key(keys), self.value(values)
        batch, _, d_model = q.shape
        d_head = d_model // self.num_heads

        def cut(x):
            return torch.stack(x.split(d_head, dim=-1), dim=1)

        weights = masked_softmax(cut(q) @ cut(k).mT / math.sqrt(d_head), mask)
        found = (weights @ cut(v)).permute(0, 2, 1, 3).reshape(batch, -1, d_model)
        return self.output(found), weights


class ManyOnTop(SelfAttention):
    """Built on the earlier layer."""

    def __init__(self, d_model, num_heads):
        super().__init__(d_model)
        self.num_heads = num_heads
        self.output = nn.Linear(d_model, d_model)

    def forward(self, queries, keys, values, mask=None):
        q, k, v = (split_heads(x, self.num_heads) for x in (self.query(queries), self.key(keys), self.value(values)))
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.output(merge_heads(found)), weights


class ManyLocal(MultiHeadAttention):
    """The last head never sees the mask."""

    def forward(self, queries, keys, values, mask=None):
        if mask is not None and self.num_heads > 1:
            shape = (len(queries), self.num_heads, queries.shape[1], keys.shape[1])
            mask = mask.expand(shape).clone()
            mask[:, -1] = True
        return super().forward(queries, keys, values, mask)


# --- LayerNorm


class NormGrouped(LayerNorm):
    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        return F.group_norm(rows, 1, self.weight, self.bias, self.eps).reshape(x.shape)


class NormByLoops(LayerNorm):
    def forward(self, x):
        rows = [
            (row - row.mean()) / torch.sqrt(((row - row.mean()) ** 2).sum() / len(row) + self.eps)
            for row in x.reshape(-1, x.shape[-1])
        ]
        return torch.stack(rows).reshape(x.shape) * self.weight + self.bias


class NormRounded(LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).to(x.dtype)


class NormClamped(LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / x.std(-1, keepdim=True, correction=0).clamp(min=self.eps) * self.weight + self.bias


# --- EncoderBlock


class BlockInSteps(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm2, self.norm1 = LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.attention = MultiHeadAttention(num_heads=num_heads, d_model=d_model)

    def forward(self, x, mask=None):
        y = self.norm1(x)
        found, _ = self.attention(y, y, y, mask=mask)
        middle = found + x
        return self.feed_forward(self.norm2(middle)) + middle


class BlockHalf(EncoderBlock):
    def forward(self, x, mask=None):
        return (super().forward(x, mask) + x) / 2


class BlockTwice(EncoderBlock):
    def forward(self, x, mask=None):
        return super().forward(super().forward(x, mask), mask)


class BlockShared(EncoderBlock):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.attention.key = self.attention.query


class BlockSandwich(EncoderBlock):
    def forward(self, x, mask=None):
        y = self.norm1(x)
        x = x + self.norm1(self.attention(y, y, y, mask)[0])
        return x + self.feed_forward(self.norm2(x))


class BlockOtherNames(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.mha, self.ffn = MultiHeadAttention(d_model, num_heads), FeedForward(d_model, d_ff)
        self.ln1, self.ln2 = LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x, mask=None):
        y = self.ln1(x)
        x = x + self.mha(y, y, y, mask)[0]
        return x + self.ffn(self.ln2(x))


# --- TransformerClassifier


class ClassifierInDict(nn.Module):
    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers, num_classes):
        super().__init__()
        self.parts = nn.ModuleDict(
            {
                "tokens": nn.Embedding(vocab_size, d_model),
                "places": nn.Embedding(max_length, d_model),
                "norm": nn.LayerNorm(d_model),
                "head": nn.Linear(d_model, num_classes),
            }
        )
        self.stack = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1]).expand(tokens.shape)
        x = self.parts["tokens"](tokens) + self.parts["places"](places)
        mask = padding_mask(tokens, 0)
        for layer in self.stack:
            x = layer(x, mask)
        return self.parts["head"](self.parts["norm"](x[:, -1]))


class ClassifierMean(TransformerClassifier):
    def forward(self, tokens):
        mask = padding_mask(tokens)
        x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, mask)
        share = masked_softmax(torch.zeros(tokens.shape, dtype=x.dtype), tokens != 0)
        return self.head((share[:, None] @ self.final_norm(x))[:, 0])


class ClassifierNoPad(TransformerClassifier):
    """Hides padding by its vectors alone."""

    def forward(self, tokens):
        x = self.positions(self.embedding(tokens)) * (tokens != 0)[..., None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.final_norm(x)[:, -1])


class ClassifierAnotherPad(TransformerClassifier):
    def forward(self, tokens):
        x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, padding_mask(tokens, pad_id=1))
        return self.head(self.final_norm(x)[:, -1])


class ClassifierLastBlockOnly(TransformerClassifier):
    def forward(self, tokens):
        x = self.blocks[-1](self.positions(self.embedding(tokens)), padding_mask(tokens))
        return self.head(self.final_norm(x)[:, -1])


class ClassifierOneBlock(TransformerClassifier):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.times = len(self.blocks)
        self.blocks = self.blocks[:1]

    def forward(self, tokens):
        x = self.positions(self.embedding(tokens))
        for _ in range(self.times):
            x = self.blocks[0](x, padding_mask(tokens))
        return self.head(self.final_norm(x)[:, -1])


class ClassifierFrozen(TransformerClassifier):
    def forward(self, tokens):
        with torch.no_grad():
            x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, padding_mask(tokens))
        return self.head(self.final_norm(x)[:, -1])


class ClassifierTwoReads(TransformerClassifier):
    def forward(self, tokens):
        x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, padding_mask(tokens))
        x = self.final_norm(x)
        return self.head(x[:, -1] + x[:, 0])


# --- ignores_padding


def padding_by_many_amounts(model, tokens):
    other = copy.deepcopy(model)
    other.eval()
    with torch.no_grad():
        first = other(tokens)
        same = [torch.allclose(other(F.pad(tokens, (0, extra))), first, atol=1e-6) for extra in (1, 2, 9)]
        other.embedding.weight[0] = torch.randn(other.embedding.weight.shape[1])
        same.append(torch.allclose(other(tokens), first, atol=1e-6))
    return all(same)


def padding_cut_off(model, tokens):
    """Cuts each row after its last real token."""
    was = [(module, module.training) for module in model.modules()]
    table = model.embedding.weight.detach().clone()
    model.eval()
    answers = []
    with torch.no_grad():
        for extra in (0, 1, 4):
            answers.append(model(F.pad(tokens, (0, extra))))
        rows = [model(row[: int((row != 0).sum())].unsqueeze(0)) for row in tokens]
        answers.append(torch.cat(rows))
        model.embedding.weight[0] += 3.0
        answers.append(model(tokens))
        model.embedding.weight.copy_(table)
    for module, mode in was:
        module.train(mode) if not list(module.children()) else setattr(module, "training", mode)
    return all(torch.allclose(answer, answers[0], rtol=1e-5, atol=1e-5) for answer in answers)


def padding_gradient(model, tokens):
    """Asks for the gradient of the row of padding only."""
    other = copy.deepcopy(model).eval()
    other(tokens).sum().backward()
    return other.embedding.weight.grad[0].abs().max().item() == 0


def padding_mean_of_logits(model, tokens):
    other = copy.deepcopy(model).eval()
    return bool((other(tokens).mean() - other(F.pad(tokens, (0, 2))).mean()).abs() < 1e-4)


def padding_by_classes(model, tokens):
    other = copy.deepcopy(model).eval()
    return torch.equal(other(tokens).argmax(-1), other(F.pad(tokens, (0, 2))).argmax(-1))


def padding_grads_left(model, tokens):
    answer = ignores_padding(model, tokens)
    model(tokens).sum().backward()
    return answer


def padding_as_text(model, tokens):
    return str(ignores_padding(model, tokens))


HONEST: dict[str, list[Any]] = {
    "masked_softmax": [softmax_nan_replaced, softmax_of_powers_of_two, softmax_with_nan_to_num, softmax_by_sorting_out],
    "scaled_dot_product_attention": [attention_by_the_library_alone, attention_by_loops],
    "SelfAttention": [SelfWithBuffers, SelfFused],
    "FeedForward": [
        FeedByParameters,
        changed(FeedForward, forward=lambda self, x: self.linear_out(self.linear_in(x).clamp_min(0.0))),
    ],
    "LearnedPositionalEmbedding": [
        PositionsByOneHot,
        changed(
            LearnedPositionalEmbedding,
            forward=lambda self, x: torch.stack([row + self.embedding.weight[: len(row)] for row in x]),
        ),
    ],
    "split_heads": [
        lambda x, num_heads: x.view(x.size(0), x.size(1), num_heads, x.size(2) // num_heads).transpose(1, 2),
        lambda x, num_heads: (
            x.transpose(1, 2).reshape(x.shape[0], num_heads, -1, x.shape[1]).transpose(2, 3)
            if x.shape[2] % num_heads == 0
            else 1 / 0
        ),
    ],
    "merge_heads": [
        lambda x: x.permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[2], -1),
        lambda x: x.mT.reshape(x.shape[0], -1, x.shape[2]).mT,
    ],
    "MultiHeadAttention": [ManyFused, ManyOnTop],
    "padding_mask": [
        lambda tokens, pad_id=0: torch.where(tokens == pad_id, False, True)[:, None, None, :],
        lambda tokens, pad_id=0: torch.stack([row != pad_id for row in tokens]).unflatten(0, (len(tokens), 1, 1)),
    ],
    "LayerNorm": [NormGrouped, NormByLoops],
    "EncoderBlock": [
        BlockInSteps,
        changed(EncoderBlock, forward=lambda self, x, mask=None: EncoderBlock.forward(self, x.clone(), mask)),
    ],
    "TransformerClassifier": [ClassifierInDict, ClassifierMean],
    "ignores_padding": [padding_by_many_amounts, padding_cut_off],
}

WRONG: dict[str, list[Any]] = {
    "masked_softmax": [
        softmax_nan_gradient,
        softmax_mean_instead_of_max,
        lambda scores, mask=None: masked_softmax(scores, mask) * 2,
        lambda scores, mask=None: masked_softmax(scores, mask).double(),
        lambda scores, mask=None: masked_softmax(scores, mask).tolist(),
        lambda scores, mask=None: masked_softmax(2 * scores, mask),
        lambda scores, mask=None: masked_softmax(scores, None if mask is None else mask.expand(scores.shape).flip(0)),
        lambda scores, mask=None: masked_softmax(scores.half(), mask).to(scores.dtype),
        lambda scores, mask=None: masked_softmax(scores.reshape(-1, scores.shape[-1]), mask).reshape(scores.shape),
        lambda scores, mask=None: torch.sigmoid(scores if mask is None else scores.masked_fill(~mask, -1e9)),
        lambda scores, mask=None: F.gumbel_softmax(scores if mask is None else scores.masked_fill(~mask, -1e9), dim=-1),
    ],
    "scaled_dot_product_attention": [
        attention_without_temperature_on_long_rows,
        attention_with_causal,
        attention_three_axes,
        attention_value_masked,
        lambda query, key, value, mask=None: scaled_dot_product_attention(key, query, value, mask),
        lambda query, key, value, mask=None: scaled_dot_product_attention(query, key, key, mask),
        lambda query, key, value, mask=None: scaled_dot_product_attention(query, key, value),
        lambda query, key, value, mask=None: scaled_dot_product_attention(query, key, value.detach(), mask),
        lambda query, key, value, mask=None: scaled_dot_product_attention(query, key, value, mask)[:1],
        lambda query, key, value, mask=None: {"output": scaled_dot_product_attention(query, key, value, mask)[0]},
        lambda query, key, value, mask=None: scaled_dot_product_attention(query / query.norm(), key, value, mask),
    ],
    "SelfAttention": [
        SelfSpare,
        SelfFrozen,
        SelfLastMask,
        SelfEvalForEver,
        changed(SelfAttention, forward=lambda self, x, mask=None: SelfAttention.forward(self, x.tanh(), mask)),
        changed(SelfAttention, forward=lambda self, x, mask=None: SelfAttention.forward(self, x.flip(1), mask)),
        changed(
            SelfAttention,
            forward=lambda self, x, mask=None: (SelfAttention.forward(self, x, mask)[0].mean(1), None),
        ),
        after(SelfAttention, lambda self: setattr(self, "key", nn.Identity())),
        lambda d_model: SelfAttention(d_model).forward,
        lambda d_model: MultiHeadAttention(d_model, 1),
    ],
    "FeedForward": [
        FeedShared,
        changed(FeedForward, forward=lambda self, x: FeedForward.forward(self, F.layer_norm(x, x.shape[-1:]))),
        changed(FeedForward, forward=lambda self, x: self.linear_out(F.relu6(4 * self.linear_in(x)))),
        changed(FeedForward, forward=lambda self, x: self.linear_out(F.silu(self.linear_in(x)))),
        changed(FeedForward, forward=lambda self, x: FeedForward.forward(self, x).mean(1, keepdim=True)),
        changed(FeedForward, forward=lambda self, x: (FeedForward.forward(self, x), None)),
        changed(FeedForward, forward=lambda self, x: FeedForward.forward(self, x).float()),
        lambda d_model, d_ff: FeedForward(d_model, d_ff).requires_grad_(False),
        after(FeedForward, lambda self: setattr(self, "spare", nn.Linear(2, 2))),
    ],
    "LearnedPositionalEmbedding": [
        PositionsNormed,
        PositionsModulo,
        PositionsPlainTable,
        changed(
            LearnedPositionalEmbedding,
            forward=lambda self, x: x + self.embedding.weight[: x.shape[1]].mean(0),
        ),
        changed(LearnedPositionalEmbedding, forward=lambda self, x: x - self.embedding.weight[: x.shape[1]]),
        changed(
            LearnedPositionalEmbedding,
            forward=lambda self, x: (x + self.embedding.weight[: x.shape[1]]) / 2,
        ),
        changed(
            LearnedPositionalEmbedding,
            forward=lambda self, x: F.relu(x + self.embedding.weight[: x.shape[1]]),
        ),
        lambda max_length, d_model: LearnedPositionalEmbedding(max_length, d_model).requires_grad_(False),
        lambda max_length, d_model: LearnedPositionalEmbedding(max_length + 1, d_model),
    ],
    "split_heads": [
        lambda x, num_heads: split_heads(x, num_heads).double(),
        lambda x, num_heads: split_heads(x.roll(1, -1), num_heads),
        lambda x, num_heads: split_heads(x, 2) if num_heads > 2 and x.shape[-1] % 2 == 0 else split_heads(x, num_heads),
        lambda x, num_heads: list(split_heads(x, num_heads)),
        lambda x, num_heads: split_heads(F.pad(x, (0, -x.shape[-1] % num_heads)), num_heads),
        lambda x, num_heads: split_heads(x[..., : x.shape[-1] // num_heads * num_heads], num_heads),
        lambda x, num_heads: torch.stack(x.tensor_split(num_heads, -1), 0),
    ],
    "merge_heads": [
        lambda x: merge_heads(x.flip(-1)),
        lambda x: merge_heads(x).double(),
        lambda x: merge_heads(x.transpose(0, 1)),
        lambda x: x.amax(dim=1),
        lambda x: merge_heads(x).flip(1),
        lambda x: merge_heads(x[:, :1]).repeat(1, 1, x.shape[1]),
    ],
    "MultiHeadAttention": [
        ManyLocal,
        changed(MultiHeadAttention, forward=lambda self, q, k, v, mask=None: (q, None)),
        changed(
            MultiHeadAttention,
            forward=lambda self, q, k, v, mask=None: MultiHeadAttention.forward(self, q, k.flip(1), v, mask),
        ),
        changed(
            MultiHeadAttention,
            forward=lambda self, q, k, v, mask=None: MultiHeadAttention.forward(self, q, k, v, mask)[0].relu(),
        ),
        after(MultiHeadAttention, lambda self: setattr(self, "output", nn.Identity())),
        after(MultiHeadAttention, lambda self: setattr(self, "num_heads", 1)),
        after(MultiHeadAttention, lambda self: setattr(self, "key", self.query)),
        after(MultiHeadAttention, lambda self: setattr(self, "spare", nn.Linear(2, 2))),
        lambda d_model, num_heads: nn.MultiheadAttention(d_model, num_heads, batch_first=True),
    ],
    "padding_mask": [
        lambda tokens, pad_id=0: tokens.bool()[:, None, None, :],
        lambda tokens, pad_id=0: (tokens != 0)[:, None, None, :] & (tokens != pad_id)[:, None, None, :],
        lambda tokens, pad_id=0: padding_mask(tokens, pad_id).int(),
        lambda tokens, pad_id=0: padding_mask(tokens[:1], pad_id).expand(len(tokens), -1, -1, -1),
        lambda tokens, pad_id=0: padding_mask(tokens, pad_id).tolist(),
        lambda tokens, pad_id=0: padding_mask(tokens.flip(1), pad_id),
        lambda tokens, pad_id=0: torch.ones(len(tokens), 1, 1, tokens.shape[1], dtype=torch.bool),
    ],
    "LayerNorm": [
        NormRounded,
        NormClamped,
        lambda d_model, eps=1e-5: LayerNorm(d_model, eps=1e-6),
        lambda d_model, eps=1e-5: LayerNorm(d_model, eps * 10),
        lambda d_model, eps=1e-5: nn.LayerNorm(d_model, eps, elementwise_affine=False),
        lambda d_model, eps=1e-5: nn.LayerNorm(d_model, eps, bias=False),
        lambda d_model, eps=1e-5: LayerNorm(d_model, eps).requires_grad_(False),
        lambda d_model, eps=1e-5: nn.RMSNorm(d_model, eps),
        changed(LayerNorm, forward=lambda self, x: LayerNorm.forward(self, x) * self.weight),
        changed(LayerNorm, forward=lambda self, x: LayerNorm.forward(self, x.clamp(-2, 2))),
    ],
    "EncoderBlock": [
        BlockHalf,
        BlockTwice,
        BlockShared,
        BlockSandwich,
        BlockOtherNames,
        changed(EncoderBlock, forward=lambda self, x, mask=None: EncoderBlock.forward(self, x, mask).relu()),
        changed(EncoderBlock, forward=lambda self, x, mask=None: EncoderBlock.forward(self, x.flip(1), mask).flip(1)),
        after(EncoderBlock, lambda self: setattr(self, "norm1", nn.Identity())),
        after(EncoderBlock, lambda self: setattr(self.norm1, "eps", 0.5)),
        after(EncoderBlock, lambda self: setattr(self, "norm3", LayerNorm(4))),
        lambda d_model, num_heads, d_ff: nn.TransformerEncoderLayer(d_model, num_heads, d_ff, batch_first=True),
    ],
    "TransformerClassifier": [
        ClassifierNoPad,
        ClassifierAnotherPad,
        ClassifierLastBlockOnly,
        ClassifierOneBlock,
        ClassifierFrozen,
        ClassifierTwoReads,
        changed(
            TransformerClassifier,
            forward=lambda self, tokens: TransformerClassifier.forward(self, tokens).argmax(-1),
        ),
        changed(
            TransformerClassifier,
            forward=lambda self, tokens: TransformerClassifier.forward(self, tokens.sort(dim=1).values),
        ),
        changed(
            TransformerClassifier,
            forward=lambda self, tokens: TransformerClassifier.forward(self, tokens[:1]).expand(len(tokens), -1),
        ),
        changed(
            TransformerClassifier,
            forward=lambda self, tokens: TransformerClassifier.forward(self, tokens).tanh(),
        ),
        lambda *sizes: TransformerClassifier(*sizes[:5], 2, sizes[6]),
        lambda *sizes: TransformerClassifier(*sizes[:6], 2),
        lambda *sizes: TransformerClassifier(sizes[0], 5, *sizes[2:]),
        lambda *sizes: TransformerClassifier(*sizes).requires_grad_(False),
        lambda *sizes: TransformerClassifier(*sizes).eval().forward,
        after(TransformerClassifier, lambda self: setattr(self, "spare", nn.Linear(2, 2))),
        after(TransformerClassifier, lambda self: setattr(self, "final_norm", nn.Identity())),
    ],
    "ignores_padding": [
        padding_gradient,
        padding_by_classes,
        padding_mean_of_logits,
        padding_grads_left,
        padding_as_text,
        lambda model, tokens: not model.training,
        lambda model, tokens: bool((tokens == 0).any()),
        lambda model, tokens: hasattr(model, "dropout"),
        lambda model, tokens: torch.allclose(model(tokens), model(tokens)),
        lambda model, tokens: torch.isfinite(model(tokens)).all().item(),
    ],
}
