"""Whole models as people write them: a right one that can be changed step by step, and others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.causal import causal_mask
from course.paper.masks import create_masks, create_padding_mask
from course.paper.model import Decoder, Encoder
from course.positions import SinusoidalPositionalEncoding

Mask = torch.Tensor | None


class Model(nn.Module):
    """The right model, step by step; mistakes change one of the steps."""

    def __init__(
        self, src: int, tgt: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int
    ) -> None:
        super().__init__()
        self.encoder: Any = self.stack(Encoder, src, d, layers, heads, d_ff, dropout, longest)
        self.decoder: Any = self.stack(Decoder, tgt, d, layers, heads, d_ff, dropout, longest)
        self.output: Any = nn.Linear(d, tgt)

    def stack(self, kind: Any, *sizes: Any) -> Any:
        return kind(*sizes)

    def masks(self, source: torch.Tensor, target_input: torch.Tensor) -> tuple[Mask, Mask]:
        return create_masks(source, target_input)

    def encoder_mask(self, source: torch.Tensor) -> Mask:
        return create_padding_mask(source)

    def encode(self, source: torch.Tensor) -> Any:
        return self.encoder(source, self.encoder_mask(source))

    def decode(self, target_input: torch.Tensor, states: torch.Tensor, source: torch.Tensor) -> Any:
        source_mask, target_mask = self.masks(source, target_input)
        return self.finish(self.decoder(target_input, states, target_mask, source_mask))

    def finish(self, states: torch.Tensor) -> Any:
        return self.output(states)

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> Any:
        return self.decode(target_input, self.encode(source), source)


def made(**steps: Any) -> type[Model]:
    return type("Transformer", (Model,), steps)


def sized(change: Callable[..., tuple[Any, ...]]) -> type[Model]:
    """Other sizes for the stacks: change(kind, vocab, d, layers, heads, d_ff, dropout, longest) -> what they get."""
    return made(stack=lambda self, kind, *sizes: kind(*change(kind, *sizes)))


def changed(change: Callable[..., None]) -> type[Model]:
    """A model changed after it was made: change(self, *sizes)."""

    def make(self: Any, *sizes: Any) -> None:
        Model.__init__(self, *sizes)
        change(self, *sizes)

    return made(__init__=make)


def swap_vocabularies(self: Any, src: int, tgt: int, *sizes: Any) -> None:
    self.encoder, self.decoder = Encoder(tgt, *sizes), Decoder(src, *sizes)


def only_last(self: Any, source: torch.Tensor, target_input: torch.Tensor) -> Any:
    return Model.forward(self, source, target_input)[:, -1]


def embedded(self: Any, source: torch.Tensor, target_input: torch.Tensor) -> Any:
    encoder = self.encoder
    states = encoder.positions(encoder.embedding(source) * math.sqrt(self.output.in_features))
    return self.decode(target_input, states, source)


def future_in_decode(self: Any, target_input: torch.Tensor, states: torch.Tensor, source: torch.Tensor) -> Any:
    source_mask, target_mask = create_masks(source, target_input)
    in_forward = getattr(self, "calling", False)
    return self.output(self.decoder(target_input, states, target_mask if in_forward else None, source_mask))


def masked_forward(self: Any, source: torch.Tensor, target_input: torch.Tensor) -> Any:
    self.calling = True
    try:
        return self.decode(target_input, self.encode(source), source)
    finally:
        self.calling = False


class Apart(nn.Module):
    """Other names, masks made by hand, and an output layer without a bias."""

    def __init__(
        self, src: int, tgt: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int
    ) -> None:
        super().__init__()
        rest: Any = {"num_layers": layers, "num_heads": heads, "d_ff": d_ff, "dropout": dropout, "max_length": longest}
        self.to_logits = nn.Linear(d, tgt, bias=False)
        self.writer = Decoder(tgt, d, **rest)
        self.reader = Encoder(src, d, **rest)

    def encode(self, source: torch.Tensor) -> Any:
        return self.reader(source, mask=source.ne(0)[:, None, None])

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> Any:
        length = target_input.shape[1]
        earlier = torch.arange(length)[:, None] >= torch.arange(length)
        states = self.writer(
            target_input,
            encoder_states,
            encoder_mask=source.ne(0)[:, None, None],
            self_mask=earlier & target_input.ne(0)[:, None, None],
        )
        return self.to_logits(states)

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> Any:
        states = self.encode(source)
        return self.decode(target_input, states, source)


class PyTorchs(nn.Module):
    """PyTorch's layers, whose masks are the other way round."""

    def __init__(
        self, src: int, tgt: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int
    ) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(src, d), nn.Embedding(tgt, d)
        self.place, self.drop = SinusoidalPositionalEncoding(d, longest), nn.Dropout(dropout)
        sizes: Any = {"batch_first": True, "dropout": dropout}
        self.below = nn.ModuleList(nn.TransformerEncoderLayer(d, heads, d_ff, **sizes) for _ in range(layers))
        self.above = nn.ModuleList(nn.TransformerDecoderLayer(d, heads, d_ff, **sizes) for _ in range(layers))
        self.output = nn.Linear(d, tgt)

    def embed(self, table: Any, tokens: torch.Tensor) -> Any:
        return self.drop(self.place(table(tokens) * table.embedding_dim**0.5))

    def encode(self, source: torch.Tensor) -> Any:
        x = self.embed(self.source, source)
        hidden = (source == 0) & (source != 0).any(dim=1, keepdim=True)  # a row of padding alone sees itself
        for layer in self.below:
            x = layer(x, src_key_padding_mask=hidden)
        return x

    def decode(self, target_input: torch.Tensor, states: torch.Tensor, source: torch.Tensor) -> Any:
        x = self.embed(self.target, target_input)
        hidden = (source == 0) & (source != 0).any(dim=1, keepdim=True)
        for layer in self.above:
            x = layer(
                x,
                states,
                tgt_mask=~causal_mask(x.shape[1]),
                tgt_key_padding_mask=target_input == 0,
                memory_key_padding_mask=hidden,
            )
        return self.output(x)

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> Any:
        return self.decode(target_input, self.encode(source), source)
