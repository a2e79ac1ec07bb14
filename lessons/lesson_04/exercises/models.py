"""Whole encoder-decoders as people write them: a right one, of which mistakes change one thing."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from course.seq2seq import DecoderBlock

Mask = torch.Tensor | None


class Model(nn.Module):
    """The right model, in small steps."""

    Norm: Any = nn.LayerNorm

    def __init__(
        self, vocab_size: int, max_length: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        self.max_length, self.d_model = max_length, d_model
        self.make_embeddings(vocab_size, max_length, d_model)
        self.encoder_layers = self.stack(EncoderBlock, num_layers, d_model, num_heads, d_ff)
        self.decoder_layers = self.stack(DecoderBlock, num_layers, d_model, num_heads, d_ff)
        self.encoder_norm, self.decoder_norm = self.Norm(d_model), self.Norm(d_model)
        self.to_logits = nn.Linear(d_model, vocab_size)

    def make_embeddings(self, vocab_size: int, max_length: int, d_model: int) -> None:
        self.source_embedding = nn.Embedding(vocab_size, d_model)
        self.target_embedding = nn.Embedding(vocab_size, d_model)
        self.source_positions = LearnedPositionalEmbedding(max_length, d_model)
        self.target_positions = LearnedPositionalEmbedding(max_length, d_model)

    def stack(self, kind: Any, num_layers: int, *sizes: int) -> Any:
        return nn.ModuleList([kind(*sizes) for _ in range(num_layers)])

    def embed_source(self, source: Any) -> Any:
        return self.source_positions(self.source_embedding(source))

    def embed_target(self, target: Any) -> Any:
        return self.target_positions(self.target_embedding(target))

    def source_mask(self, source: Any) -> Any:
        """For the encoder."""
        return padding_mask(source)

    def cross_mask(self, source: Any) -> Any:
        """For the decoder."""
        return padding_mask(source)

    def encode(self, source: Any) -> Any:
        x, mask = self.embed_source(source), self.source_mask(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        x, mask = self.embed_target(target_input), self.cross_mask(source)
        for i, layer in enumerate(self.decoder_layers):
            x = self.step(i, layer, x, encoder_states, target_mask, mask)
        return self.finish(x)

    def step(self, i: int, layer: Any, x: Any, states: Any, target_mask: Mask, mask: Mask) -> Any:
        return layer(x, states, target_mask, mask)

    def finish(self, x: Any) -> Any:
        return self.to_logits(self.decoder_norm(x))

    def forward(self, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
        return self.decode(target_input, self.encode(source), source, target_mask)


def model(**members: Any) -> type[Model]:
    """The right model with other members."""
    return type("Seq2SeqTransformer", (Model,), members)


class SharedAndTied(Model):
    """One embedding for both sides and for the logits, scaled, with a padding row; one table of positions."""

    Norm = LayerNorm

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.to_logits.weight = self.embedding.weight

    def make_embeddings(self, vocab_size: int, max_length: int, d_model: int) -> None:
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.positions = nn.Parameter(torch.randn(max_length, d_model) / 10)

    def embed_source(self, source: Any) -> Any:
        return self.embedding(source) * math.sqrt(self.d_model) + self.positions[: source.size(1)]

    def embed_target(self, target: Any) -> Any:
        return self.embed_source(target)


class ApartModules(nn.Module):
    """An encoder and a decoder as modules of their own; the norms are theirs."""

    def __init__(
        self, vocab_size: int, max_length: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        self.inner = Model(vocab_size, max_length, d_model, num_heads, d_ff, num_layers)

    @property
    def encoder_norm(self) -> Any:
        return self.inner.encoder_norm

    @property
    def decoder_norm(self) -> Any:
        return self.inner.decoder_norm

    def encode(self, source: Any) -> Any:
        return self.inner.encode(source)

    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        return self.inner.decode(target_input, encoder_states, source, target_mask=target_mask)

    def forward(self, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
        states = self.encode(source)
        return self.decode(target_input, states, source, target_mask)


def sinusoids(length: int, d_model: int) -> torch.Tensor:
    """(length, d_model)."""
    angles = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :d_model]


class Sinusoidal(Model):
    """Positions that are not learnt."""

    table: torch.Tensor

    def make_embeddings(self, vocab_size: int, max_length: int, d_model: int) -> None:
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("table", sinusoids(max_length, d_model))

    def embed_source(self, source: Any) -> Any:
        x = self.embedding(source)
        return x + self.table[None, : x.size(1)].to(x.dtype)

    def embed_target(self, target: Any) -> Any:
        return self.embed_source(target)


class OneBlockRepeated(Model):
    """The first block does the work of all."""

    def stack(self, kind: Any, num_layers: int, *sizes: int) -> Any:
        return nn.ModuleList([kind(*sizes)] * num_layers)


class PlainLists(Model):
    """Blocks in a list that PyTorch does not look into."""

    def stack(self, kind: Any, num_layers: int, *sizes: int) -> Any:
        return [kind(*sizes) for _ in range(num_layers)]


def first_only(self: Any, i: int, layer: Any, x: Any, states: Any, target_mask: Mask, mask: Mask) -> Any:
    """The target mask reaches the first block alone."""
    return layer(x, states, target_mask if i == 0 else None, mask)


def one_norm(self: Any, *sizes: int) -> None:
    """One norm serves both stacks."""
    Model.__init__(self, *sizes)
    self.decoder_norm = self.encoder_norm


def one_decoder_block(self: Any, *sizes: int) -> None:
    """The decoder has a single block, however many are asked for."""
    Model.__init__(self, *sizes)
    self.decoder_layers = self.decoder_layers[:1]


def encoded_again(self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
    """Does not trust the states that it is given."""
    return Model.decode(self, target_input, self.encode(source), source, target_mask)


def normed_again(self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
    """Norms the states once more."""
    return Model.decode(self, target_input, self.encoder_norm(encoder_states), source, target_mask)


def normed_after_each(self: Any, source: Any) -> Any:
    """One norm, called after every block."""
    x, mask = self.embed_source(source), self.source_mask(source)
    for layer in self.encoder_layers:
        x = self.encoder_norm(layer(x, mask))
    return x


def normed_before_the_stack(self: Any, source: Any) -> Any:
    """The norm at the wrong end."""
    x, mask = self.encoder_norm(self.embed_source(source)), self.source_mask(source)
    for layer in self.encoder_layers:
        x = layer(x, mask)
    return x


def not_normed(self: Any, source: Any) -> Any:
    """The stack's end as it is."""
    x, mask = self.embed_source(source), self.source_mask(source)
    for layer in self.encoder_layers:
        x = layer(x, mask)
    return x


def first_layer_only(self: Any, source: Any) -> Any:
    """A return inside the loop."""
    return self.encoder_norm(self.encoder_layers[0](self.embed_source(source), self.source_mask(source)))


def from_the_start_each_time(self: Any, source: Any) -> Any:
    """Each block gets the embeddings; only the last one's result is kept."""
    start, mask = self.embed_source(source), self.source_mask(source)
    x = start
    for layer in self.encoder_layers:
        x = layer(start, mask)
    return self.encoder_norm(x)


def last_decoder_block_only(
    self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None
) -> Any:
    """Each block gets the embeddings of the target; only the last one's result is kept."""
    x, mask = self.embed_target(target_input), self.cross_mask(source)
    for i, layer in enumerate(self.decoder_layers):
        result = self.step(i, layer, x, encoder_states, target_mask, mask)
    return self.finish(result)


def first_decoder_block_only(
    self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None
) -> Any:
    """A return inside the decoder's loop."""
    x, mask = self.embed_target(target_input), self.cross_mask(source)
    return self.finish(self.step(0, self.decoder_layers[0], x, encoder_states, target_mask, mask))


def embeddings_for_states(self: Any, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
    """The encoder's work is thrown away."""
    self.encode(source)
    return self.decode(target_input, self.embed_source(source), source, target_mask)


def by_row(self: Any, source: Any) -> Any:
    """The position is that of the row in the batch."""
    x = self.source_embedding(source)
    places = torch.arange(x.shape[0]) % self.max_length
    return x + self.source_positions.embedding(places)[:, None]


def causal_anyway(self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
    """A mask that nobody asked for."""
    length = target_input.shape[1]
    lower = torch.ones(length, length, dtype=torch.bool).tril()
    return Model.decode(self, target_input, encoder_states, source, lower if target_mask is None else target_mask)
