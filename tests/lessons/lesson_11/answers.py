"""Lesson 11 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from course.blocks import LayerNorm, LearnedPositionalEmbedding
from course.language_model.gpt import DecoderOnlyBlock
from course.language_model.modern import ModernBlock, RMSNorm

# --- next_token_batches


# --- targets_are_next


# --- bits_per_character


# --- the blocks


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
    "DecoderOnlyTransformer": [ModelOfDictionaries, ModelThatSharesAParameter],
    "continue_text": [continues_by_recursion, continues_with_cumsum],
    "ModernLanguageModel": [ModernInARow, ModernByWeights],
    "LoRALinear": [LoraOfFactors, LoraStepByStep],
}
WRONG = {
    "DecoderOnlyTransformer": [ModelScaled, ModelOfLogs, ModelBackwards],
    "continue_text": [
        continues_with_the_best_two,
        continues_with_the_square_of_the_temperature,
        continues_and_repeats,
    ],
    "ModernLanguageModel": [ModernScaled, ModernOfLogs, ModernBackwards],
    "LoRALinear": [LoraOfTheRoot, LoraSubtracted, LoraWithAGate],
}
