"""`CausalSeq2SeqTransformer` as people write it: right ones, and wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock, LearnedPositionalEmbedding
from course.causal import causal_mask, decoder_mask
from course.seq2seq import DecoderBlock, Seq2SeqTransformer

Mask = torch.Tensor | None


class Model(nn.Module):
    """The model of lesson 4, in small steps."""

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


def masking(make: Callable[[torch.Tensor, torch.Tensor, Mask], Mask], base: Any = Seq2SeqTransformer) -> Any:
    """A model whose decode makes its mask from target_input, source and the mask that is handed in."""

    def decode(self: Any, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        mask = make(target_input, source, target_mask)
        return base.decode(self, target_input, encoder_states, source, mask)

    return type("CausalSeq2SeqTransformer", (base,), {"decode": decode})


def with_members(**members: Any) -> Any:
    """The model of lesson 4 with other members."""
    return type("CausalSeq2SeqTransformer", (Seq2SeqTransformer,), members)


def joined(target: torch.Tensor, source: torch.Tensor, mask: Mask) -> torch.Tensor:
    """The right mask."""
    own = decoder_mask(target)
    return own if mask is None else own & mask


def in_forward_alone(self: Any, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
    """A forward that masks, over a decode that does not."""
    mask = joined(target_input, source, target_mask)
    return Seq2SeqTransformer.forward(self, source, target_input, mask)


def in_decode_too(self: Any, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
    """A forward of its own, which calls decode."""
    return self.decode(target_input, self.encode(source), source, target_mask)


def encoder_masked(self: Any, source: Any) -> Any:
    """The encoder may not look ahead either."""
    mask = decoder_mask(source)
    x = self.source_positions(self.embedding(source))
    for block in self.encoder:
        x = block(x, mask)
    return self.encoder_norm(x)


class FromScratch(Model):
    """Nothing inherited from lesson 4's class: the mask is made in the decoder's loop."""

    def step(self, i: int, layer: Any, x: Any, states: Any, target_mask: Mask, mask: Mask) -> Any:
        own = decoder_mask(self.target_input)
        return layer(x, states, own if target_mask is None else torch.logical_and(own, target_mask), mask)

    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        self.target_input = target_input
        return super().decode(target_input, encoder_states, source, target_mask)


class Inside(nn.Module):
    """A model of lesson 4 inside."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.model = Seq2SeqTransformer(*sizes)
        self.encoder_norm, self.decoder_norm = self.model.encoder_norm, self.model.decoder_norm

    def encode(self, source: Any) -> Any:
        return self.model.encode(source)

    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        mask = joined(target_input, source, target_mask)
        return self.model.decode(target_input, encoder_states, source, mask)

    def forward(self, source: Any, target_input: Any, target_mask: Mask = None) -> Any:
        return self.decode(target_input, self.encode(source), source, target_mask)


class FirstBlockOnly(Model):
    """The own mask reaches the first block, the others get what was handed in."""

    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> Any:
        self.own = joined(target_input, source, target_mask)
        return super().decode(target_input, encoder_states, source, target_mask)

    def step(self, i: int, layer: Any, x: Any, states: Any, target_mask: Mask, mask: Mask) -> Any:
        return layer(x, states, self.own if i == 0 else target_mask, mask)


def by_hand(target: torch.Tensor, source: torch.Tensor, mask: Mask) -> torch.Tensor:
    """The right mask from its two parts."""
    own = causal_mask(target.size(1))[None, None] & padding_mask(target)
    if mask is None:
        return own
    return torch.where(mask, own, torch.zeros_like(own))
