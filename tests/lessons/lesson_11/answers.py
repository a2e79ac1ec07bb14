"""Lesson 11 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.causal import causal_mask
from course.language_model.gpt import DecoderOnlyBlock
from course.language_model.modern import GroupedQueryAttention, ModernBlock, RMSNorm, SwiGLU
from course.positions import rotary_embedding

# --- next_token_batches


# --- targets_are_next


# --- bits_per_character


# --- the blocks


class BlockInside(EncoderBlock):
    """An encoder block that is called with a mask kept for the longest text."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__(d_model, num_heads, d_ff)
        self.register_buffer("mask", torch.ones(256, 256, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        n = x.size(1)
        return EncoderBlock.forward(self, x, mask=self.mask[None, None, :n, :n])


class BlockByComparison(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.feed_forward = nn.LayerNorm(d_model), FeedForward(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        h = self.norm1(x)
        a, _ = self.attention(h, h, h, places[:, None] >= places)
        x = torch.add(x, self.dropout(a))
        return torch.add(x, self.dropout(self.feed_forward(self.norm2(x))))


class BlockOfTwoTokens(DecoderOnlyBlock):
    """Sees itself and the token before."""

    def forward(self, x):
        n = x.shape[1]
        mask = causal_mask(n) & ~causal_mask(n).tril(-2)
        h = self.norm1(x)
        x = x + self.attention(h, h, h, mask)[0]
        return x + self.feed_forward(self.norm2(x))


class BlockTwice(DecoderOnlyBlock):
    def forward(self, x):
        return super().forward(super().forward(x))


class BlockHalved(DecoderOnlyBlock):
    def forward(self, x):
        return x + 0.5 * (super().forward(x) - x)


class ModernInOneLine(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(d_model, eps=1e-5), nn.RMSNorm(d_model, eps=1e-5)
        self.feed_forward = SwiGLU(d_model=d_model, d_ff=d_ff)
        self.attention = GroupedQueryAttention(d_model, num_kv_heads=num_kv_heads, num_heads=num_heads)

    def forward(self, x):
        return (y := x + self.attention(self.norm1(x), causal_mask(x.size(-2))[None])[0]) + self.feed_forward(
            self.norm2(y)
        )


class ModernWithSteps(ModernBlock):
    """Each step is a method."""

    def attend(self, x):
        output, _weights = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]).expand(len(x), 1, -1, -1))
        return output

    def forward(self, x):
        for step in (self.attend, lambda y: self.feed_forward(self.norm2(y))):
            x = x + step(x)
        return x


class ModernOfTwoTokens(ModernBlock):
    def forward(self, x):
        n = x.shape[1]
        x = x + self.attention(self.norm1(x), causal_mask(n) & ~causal_mask(n).tril(-2))[0]
        return x + self.feed_forward(self.norm2(x))


class ModernTwice(ModernBlock):
    def forward(self, x):
        return super().forward(super().forward(x))


class ModernHalved(ModernBlock):
    def forward(self, x):
        return x + 0.5 * (super().forward(x) - x)


# --- the models


class ModelOfDictionaries(nn.Module):
    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.max_length = max_length
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(max_length, d_model)
        blocks = [DecoderOnlyBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.blocks = nn.Sequential(*blocks)
        self.final_norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, 0.0, 0.02)
        nn.init.normal_(self.positions.embedding.weight, 0.0, 0.02)

    def forward(self, tokens):
        if tokens.size(1) > self.max_length:
            raise IndexError("too long")
        states = self.final_norm(self.blocks(self.positions(self.embedding(tokens))))
        return torch.einsum("bld,vd->blv", states, self.embedding.weight)


class ModelThatSharesAParameter(nn.Module):
    """The output layer is made first, and the embedding takes its table."""

    def __init__(self, vocab_size, max_length, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.embedding.weight
        self.positions = LearnedPositionalEmbedding(max_length, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(DecoderOnlyBlock(d_model, num_heads, d_ff))
        self.final_norm = LayerNorm(d_model)
        self.apply(self.begin)
        self.max_length = max_length

    def begin(self, module):
        if isinstance(module, nn.Embedding | nn.Linear):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens):
        assert tokens.shape[1] <= self.max_length
        x = self.positions(self.embedding(tokens))
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
        return self.head(self.final_norm(x))


class ModelScaled(ModelOfDictionaries):
    def forward(self, tokens):
        return super().forward(tokens) / self.embedding.embedding_dim**0.5


class ModelOfLogs(ModelOfDictionaries):
    def forward(self, tokens):
        return super().forward(tokens).log_softmax(-1)


class ModelBackwards(ModelOfDictionaries):
    """Runs the last block first."""

    def forward(self, tokens):
        states = nn.Sequential(*reversed(list(self.blocks)))(self.positions(self.embedding(tokens)))
        return self.final_norm(states) @ self.embedding.weight.T


class ModernInARow(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers):
        super().__init__()
        self.blocks = nn.Sequential()
        for i in range(num_layers):
            self.blocks.add_module(str(i), ModernBlock(d_model, num_heads, num_kv_heads, d_ff))
        self.output = nn.Linear(d_model, vocab_size, False)
        self.final_norm = nn.RMSNorm(d_model, eps=1e-5)
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model)

    def forward(self, tokens):
        return self.output(self.final_norm(self.blocks(self.embedding(tokens))))


class ModernByWeights(nn.Module):
    """Looks its vectors up by hand."""

    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, d_ff, num_layers):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([ModernBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers)])
        self.final_norm, self.output = RMSNorm(d_model), nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        x = self.embedding.weight[tokens]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.final_norm(x), self.output.weight)


class ModernScaled(ModernInARow):
    def forward(self, tokens):
        return super().forward(tokens) / 4


class ModernOfLogs(ModernInARow):
    def forward(self, tokens):
        return super().forward(tokens).log_softmax(-1)


class ModernBackwards(ModernInARow):
    """Runs the last block first."""

    def forward(self, tokens):
        return self.output(self.final_norm(nn.Sequential(*reversed(list(self.blocks)))(self.embedding(tokens))))


# --- continue_text


def continues_by_recursion(model, prompt, max_new_tokens, temperature, top_p, generator):
    if max_new_tokens == 0:
        return prompt.clone()
    read = prompt[-model.max_length :] if hasattr(model, "max_length") else prompt
    with torch.no_grad():
        row = model(read.reshape(1, -1))[0, -1].double()
    if temperature == 0:
        chosen = row.argmax()
    else:
        shares, places = (row / temperature).softmax(-1).sort(descending=True)
        count = int((shares.cumsum(0) < top_p - 1e-9).sum()) + 1
        chosen = places[torch.multinomial(shares[:count], 1, generator=generator)[0]]
    longer = torch.cat([prompt, chosen.reshape(1).to(prompt.dtype)])
    return continues_by_recursion(model, longer, max_new_tokens - 1, temperature, top_p, generator)


def continues_with_cumsum(model, prompt, max_new_tokens, temperature, top_p, generator):
    tokens = prompt.unsqueeze(0)
    window = getattr(model, "max_length", 10**6)
    for _ in range(max_new_tokens):
        with torch.no_grad():
            logits = model(tokens[:, -window:])[:, -1, :]
        if temperature == 0:
            new = logits.argmax(-1, keepdim=True)
        else:
            ordered, places = torch.sort(logits / temperature, descending=True)
            before = ordered.softmax(-1).cumsum(-1) - ordered.softmax(-1)
            ordered[before >= top_p] = float("-inf")
            new = places.gather(1, torch.multinomial(ordered.softmax(-1), 1, generator=generator))
        tokens = torch.cat((tokens, new), dim=1)
    return tokens.squeeze(0)


def continues_with_the_best_two(model, prompt, max_new_tokens, temperature, top_p, generator):
    ids, window = prompt, getattr(model, "max_length", 10**6)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            best = model(ids[None, -window:])[0, -1].topk(2).indices
            place = 0 if temperature == 0 else int(torch.randint(2, (1,), generator=generator))
            ids = torch.cat([ids, best[place : place + 1]])
    return ids


def continues_with_the_square_of_the_temperature(model, prompt, max_new_tokens, temperature, top_p, generator):
    return continues_with_cumsum(model, prompt, max_new_tokens, temperature**2, top_p, generator)


def continues_and_repeats(model, prompt, max_new_tokens, temperature, top_p, generator):
    return torch.cat([prompt, prompt.repeat(max_new_tokens)[:max_new_tokens]])


# --- the new parts


class GroupedByIndex(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.heads, self.kv, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.query = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.key = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.value = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.output = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        owner = torch.arange(self.heads) // (self.heads // self.kv)
        q = self.query(x).view(b, n, self.heads, self.d).permute(0, 2, 1, 3)
        k = self.key(x).view(b, n, self.kv, self.d).permute(0, 2, 1, 3)[:, owner]
        v = self.value(x).view(b, n, self.kv, self.d).permute(0, 2, 1, 3)[:, owner]
        places = torch.arange(n)
        q, k = rotary_embedding(q, places), rotary_embedding(k, places)
        scores = torch.matmul(q, k.mT) * self.d**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -1e30)
        weights = torch.softmax(scores, dim=-1)
        return self.output(torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(b, n, -1)), weights


class GroupedByKron(GroupedByIndex):
    """Repeats the rows of the weights, and then needs no groups."""

    def wide(self, layer):
        rows = layer.weight.view(self.kv, self.d, -1).repeat_interleave(self.heads // self.kv, dim=0)
        return rows.flatten(0, 1)

    def forward(self, x, mask=None):
        n = x.shape[1]
        cut = [F.linear(x, w) for w in (self.query.weight, self.wide(self.key), self.wide(self.value))]
        q, k, v = (part.unflatten(-1, (self.heads, self.d)).transpose(1, 2) for part in cut)
        q, k = (rotary_embedding(part, torch.arange(n) + 3) for part in (q, k))
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        return F.linear((weights @ v).transpose(1, 2).flatten(2), self.output.weight), weights


class GroupedOfAnotherBase(GroupedQueryAttention):
    """Frequencies of another base."""

    def forward(self, x, mask=None):
        return _turned(self, x, mask, 500.0, 1)


class GroupedOfDoubledPlaces(GroupedQueryAttention):
    def forward(self, x, mask=None):
        return _turned(self, x, mask, 10000.0, 2)


class GroupedOfSwappedGroups(GroupedQueryAttention):
    """The last key head serves the first group."""

    def forward(self, x, mask=None):
        return _turned(self, x, mask, 10000.0, 1, flip=True)


def _turned(layer, x, mask, base, step, flip=False):
    b, n, _ = x.shape
    places = step * torch.arange(n)
    q = layer.query(x).view(b, n, layer.num_heads, -1).transpose(1, 2)
    k, v = (part(x).view(b, n, layer.num_kv_heads, -1).transpose(1, 2) for part in (layer.key, layer.value))
    if flip:
        k, v = k.flip(1), v.flip(1)
    group = layer.num_heads // layer.num_kv_heads
    q, k = rotary_embedding(q, places, base), rotary_embedding(k, places, base).repeat_interleave(group, dim=1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    weights = scores.softmax(-1)
    return layer.output((weights @ v.repeat_interleave(group, dim=1)).transpose(1, 2).flatten(2)), weights


# --- LoRALinear


class LoraOfFactors(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        n, m = linear.weight.shape[1], linear.weight.shape[0]
        self.base = nn.Linear(n, m, bias=linear.bias is not None, dtype=linear.weight.dtype)
        self.base.load_state_dict(linear.state_dict())
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.rank, self.alpha = rank, alpha
        self.down = nn.Parameter(torch.empty(rank, n, dtype=linear.weight.dtype).normal_(std=0.02))
        self.up = nn.Parameter(linear.weight.new_zeros(m, rank))

    def weight_change(self):
        return (self.alpha / self.rank) * torch.matmul(self.up, self.down)

    def forward(self, x):
        return F.linear(x, self.base.weight + self.weight_change(), self.base.bias)

    @torch.no_grad()
    def merged(self):
        layer = nn.Linear(self.base.in_features, self.base.out_features, bias=self.base.bias is not None)
        layer = layer.to(self.base.weight.dtype)
        state = {name: tensor.clone() for name, tensor in self.base.state_dict().items()}
        state["weight"] += self.weight_change()
        layer.load_state_dict(state)
        return layer


class LoraStepByStep(LoraOfFactors):
    def forward(self, x):
        narrow = torch.einsum("...n,rn->...r", x, self.down)
        wide = torch.einsum("...r,mr->...m", narrow, self.up)
        return torch.add(self.base(x), wide, alpha=self.alpha / self.rank)


class LoraOfTheRoot(LoraOfFactors):
    def weight_change(self):
        return (self.alpha / self.rank**0.5) * self.up @ self.down


class LoraSubtracted(LoraOfFactors):
    def weight_change(self):
        return -(self.alpha / self.rank) * self.up @ self.down


class LoraWithAGate(LoraOfFactors):
    def forward(self, x):
        return self.base(x) + self.alpha / self.rank * torch.relu(x @ self.down.T) @ self.up.T


HONEST = {
    "DecoderOnlyBlock": [BlockInside, BlockByComparison],
    "DecoderOnlyTransformer": [ModelOfDictionaries, ModelThatSharesAParameter],
    "continue_text": [continues_by_recursion, continues_with_cumsum],
    "GroupedQueryAttention": [GroupedByIndex, GroupedByKron],
    "ModernBlock": [ModernInOneLine, ModernWithSteps],
    "ModernLanguageModel": [ModernInARow, ModernByWeights],
    "LoRALinear": [LoraOfFactors, LoraStepByStep],
}
WRONG = {
    "DecoderOnlyBlock": [BlockOfTwoTokens, BlockTwice, BlockHalved],
    "DecoderOnlyTransformer": [ModelScaled, ModelOfLogs, ModelBackwards],
    "continue_text": [
        continues_with_the_best_two,
        continues_with_the_square_of_the_temperature,
        continues_and_repeats,
    ],
    "GroupedQueryAttention": [GroupedOfAnotherBase, GroupedOfDoubledPlaces, GroupedOfSwappedGroups],
    "ModernBlock": [ModernOfTwoTokens, ModernTwice, ModernHalved],
    "ModernLanguageModel": [ModernScaled, ModernOfLogs, ModernBackwards],
    "LoRALinear": [LoraOfTheRoot, LoraSubtracted, LoraWithAGate],
}
