"""Whole classifiers, right ones and wrong ones: `TransformerClassifier` as people write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding


class Model(nn.Module):
    """The right model; mistakes change one thing about it."""

    def __init__(
        self,
        vocab_size: int,
        max_length: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        num_classes: int,
    ) -> None:
        super().__init__()
        self.embedding: Any = nn.Embedding(vocab_size, d_model)
        self.positions: Any = LearnedPositionalEmbedding(max_length, d_model)
        self.blocks: Any = self.stack(d_model, num_heads, d_ff, num_layers)
        self.final_norm: Any = LayerNorm(d_model)
        self.head: Any = nn.Linear(d_model, num_classes)

    def stack(self, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> Any:
        return nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.head(self.read(self.finished(self.run(self.embedded(tokens), tokens)), tokens))

    def finished(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.final_norm(x))

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.positions(self.embedding(tokens)))

    def run(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        mask = self.mask(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return x

    def mask(self, tokens: torch.Tensor) -> torch.Tensor | None:
        return padding_mask(tokens)

    def read(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return x[:, -1]


def made(**members: Any) -> type[Model]:
    """A model with other members."""
    return type("TransformerClassifier", (Model,), members)


def embedding(embedded: Callable[[Any, torch.Tensor], Any]) -> type[Model]:
    """A model with another way from tokens to vectors."""
    return made(embedded=embedded)


def masked_by(change: Callable[[torch.Tensor], torch.Tensor | None]) -> type[Model]:
    """A model that changes its padding mask."""
    return made(mask=lambda self, tokens: change(padding_mask(tokens)))


def reading(read: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> type[Model]:
    """A model that reads something else of the normed vectors."""
    return made(read=lambda self, x, tokens: read(x, tokens))


def stacked(stack: Callable[[int, int, int, int], Any]) -> type[Model]:
    """A model with another stack, of d_model, num_heads, d_ff and num_layers."""
    return made(stack=lambda self, *sizes: stack(*sizes))


def finishing(finish: Callable[[torch.Tensor], torch.Tensor]) -> type[Model]:
    """A model that does something to its logits."""
    return made(forward=lambda self, tokens: finish(Model.forward(self, tokens)))


def mean(x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The mean of the real tokens."""
    real = (tokens != 0)[..., None].to(x.dtype)
    return (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)


class _FirstMasked(Model):
    """Hands the mask to the first block only."""

    def run(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        first, *others = self.blocks
        x = first(x, self.mask(tokens))
        for block in others:
            x = block(x)
        return x


only_first_masked = _FirstMasked


class _OnePlace(Model):
    """Turns batch and length round before it asks for positions."""

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.embedding(tokens) + self.positions.embedding.weight[0])


one_row_of_places = _OnePlace


class Causal(Model):
    """Hides what stands behind, too."""

    def mask(self, tokens: torch.Tensor) -> torch.Tensor | None:
        length = tokens.shape[1]
        return padding_mask(tokens) & torch.ones(length, length, dtype=torch.bool).tril()


class FirstBlockOnly(Model):
    """Returns from inside the loop."""

    def run(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.blocks[0](x, self.mask(tokens)))


class PlainList(Model):
    """Keeps its blocks in a plain list."""

    def stack(self, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> Any:
        return [EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]


class BatchNormed(Model):
    """Norms over the batch behind the stack."""

    def finished(self, x: torch.Tensor) -> torch.Tensor:
        normed = (x - x.mean(dim=(0, 1))) / (x.var(dim=(0, 1), correction=0) + 1e-5).sqrt()
        return torch.as_tensor(normed * self.final_norm.weight + self.final_norm.bias)


class Dropping(Model):
    """Drops numbers while it is trained."""

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(super().embedded(tokens), 0.2, self.training)


class Bare(nn.Module):
    """PyTorch's parts under other names, positions in one parameter, and an option that is off."""

    def __init__(
        self,
        vocab_size: int,
        max_length: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        num_classes: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.classify = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, num_classes))
        self.layers = nn.Sequential()
        for i in range(num_layers):
            self.layers.add_module(str(i), EncoderBlock(d_model, num_heads, d_ff))
        self.places = nn.Parameter(torch.zeros(1, max_length, d_model))
        self.words = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor) -> Any:
        mask = (tokens != 0)[:, None, None, :]
        x = self.dropout(self.words(tokens) + self.places[:, : tokens.shape[1]])
        for layer in self.layers:
            x = layer(x, mask)
        return self.classify(x[:, -1, :])


class Stack(Model):
    """Blocks one by one, as attributes; the mask is made for all queries."""

    def stack(self, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> Any:
        for i in range(num_layers):
            setattr(self, f"block{i}", EncoderBlock(d_model, num_heads, d_ff))
        return num_layers

    def run(self, x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        mask = padding_mask(tokens).expand(-1, -1, tokens.shape[1], -1)
        for i in range(self.blocks):
            x = getattr(self, f"block{i}")(x, mask=mask)
        return x


class _Head(nn.Module):
    def __init__(self, d_model: int, num_classes: int) -> None:
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.linear = nn.Linear(d_model, num_classes)

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear(self.norm(x))


class Joined(Model):
    """The norm behind the stack lives in the head."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        del self.final_norm
        self.head = _Head(sizes[2], sizes[6])

    def finished(self, x: torch.Tensor) -> torch.Tensor:
        return x
