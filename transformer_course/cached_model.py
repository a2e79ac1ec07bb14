"""The causal model with a cache for what it has read: it can take one new token at a time."""

from typing import Protocol

import torch

from transformer_course.attention import (
    MultiHeadAttention,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.seq2seq import DecoderBlock


class Cache(Protocol):
    """Keeps keys and values, (batch, heads, length, d_head), one pair for each layer
    number.
    """

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Adds new ones after those of this layer; returns everything so far."""
        ...


class CachedSeq2SeqTransformer(CausalSeq2SeqTransformer):
    """The model of lesson 5, which can also read its own answer one token at a time.

    - `encode(source)`: encoder states (batch, source_length, d_model), zero where the
      source is padding. That tells `decode_step`, which never sees the source, what to
      hide.
    - `decode_step(tokens, encoder_states, cache)`: one new token per row, (batch, 1) ->
      logits (batch, 1, vocab_size) for the token that follows. What was read before is
      in the cache, which is empty at first.

    `model(source, target_input)` gives the same logits, all at once.

    >>> from transformer_course.caching import KeyValueCache
    >>> model = CachedSeq2SeqTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> source, answer = torch.randint(1, 13, (5, 9)), torch.randint(1, 13, (5, 4))
    >>> states, cache = model.encode(source), KeyValueCache()
    >>> steps = [model.decode_step(answer[:, t : t + 1], states, cache) for t in range(4)]
    >>> torch.allclose(torch.cat(steps, dim=1), model(source, answer), atol=1e-5)
    True
    """

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        states = super().encode(source)
        return states.masked_fill((source == 0).unsqueeze(-1), 0.0)

    def decode_step(self, tokens: torch.Tensor, encoder_states: torch.Tensor, cache: Cache) -> torch.Tensor:
        # Number 0 of the cache keeps the tokens themselves: how many there are, and which of them are padding.
        column = tokens[:, None, :, None]  # (batch, 1, 1, 1), the form of keys
        read = cache.append(0, column, column)[0].flatten(start_dim=1)  # (batch, length so far)
        place = read.shape[1] - 1
        self_mask = padding_mask(read)  # (batch, 1, 1, length so far)
        encoder_mask = (encoder_states != 0).any(dim=-1)[:, None, None, :]  # (batch, 1, 1, source_length)
        # The encoder's keys and values are the same in every step, so only the first step computes them.
        new_states = encoder_states if place == 0 else encoder_states[:, :0]

        x = self.embedding(tokens) + self.target_positions.embedding.weight[place]  # (batch, 1, d_model)
        for i, block in enumerate(self.decoder):
            assert isinstance(block, DecoderBlock)
            normed = block.norm1(x)
            x = x + _attend(block.self_attention, normed, normed, self_mask, cache, 2 * i + 1)
            x = x + _attend(block.cross_attention.attention, block.norm2(x), new_states, encoder_mask, cache, 2 * i + 2)
            x = x + block.feed_forward(block.norm3(x))
        logits: torch.Tensor = self.head(self.decoder_norm(x))
        return logits


def _attend(
    attention: MultiHeadAttention, x: torch.Tensor, new: torch.Tensor, mask: torch.Tensor, cache: Cache, layer: int
) -> torch.Tensor:
    """Attention from x to everything in the cache, once the keys and values of `new`
    have been added.
    """
    heads = attention.num_heads
    keys, values = cache.append(layer, split_heads(attention.key(new), heads), split_heads(attention.value(new), heads))
    output, _ = scaled_dot_product_attention(split_heads(attention.query(x), heads), keys, values, mask)
    mixed: torch.Tensor = attention.output(merge_heads(output))
    return mixed
