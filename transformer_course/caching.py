"""A cache for keys and values: the model reads each token once, and greedy decoding gets faster."""

from typing import Any

import torch

from transformer_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from transformer_course.cached_model import CachedSeq2SeqTransformer
from transformer_course.causal import CausalSeq2SeqTransformer


class KeyValueCache:
    """Remembers the keys and values of all tokens so far, separately for each layer.

    `append(layer, keys, values)` adds the new keys and values of one layer,
    (batch, heads, new, d_head), after those that the layer already has. It returns a
    pair (keys, values) with everything so far, oldest first:
    (batch, heads, length so far, d_head). `layer` is a number, counted from 0, and a
    new cache is empty. `new` is usually 1; with new = 0 nothing is added, and
    everything so far is returned.

    >>> cache = KeyValueCache()
    >>> one = torch.ones(1, 1, 1, 2)
    >>> keys, values = cache.append(0, one, 10 * one)
    >>> keys, values = cache.append(0, 2 * one, 20 * one)
    >>> values
    tensor([[[[10., 10.],
              [20., 20.]]]])
    """

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        ### END SOLUTION

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        if layer in self.layers:
            earlier_keys, earlier_values = self.layers[layer]
            keys = torch.cat([earlier_keys, keys], dim=2)  # (batch, heads, length so far, d_head)
            values = torch.cat([earlier_values, values], dim=2)
        self.layers[layer] = (keys, values)
        return keys, values
        ### END SOLUTION


def cached_greedy_decode(
    model: CachedSeq2SeqTransformer, source: torch.Tensor, start_id: int, end_id: int, max_length: int
) -> torch.Tensor:
    """The same ids as `greedy_decode`, with less work: the model reads each token once.

    The model has two methods for this (see `transformer_course.cached_model`):

    - `model.encode(source)` -> encoder_states, needed only once
    - `model.decode_step(tokens, encoder_states, cache)` reads one new token per row,
      (batch, 1), and returns logits (batch, 1, vocab_size) for the next one; `cache` is
      a `KeyValueCache`, empty at first, that the model fills

    Everything else is as in `greedy_decode`.

    >>> model = CachedSeq2SeqTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> cached_greedy_decode(model, torch.randint(3, 13, (5, 9)), start_id=1, end_id=2, max_length=1).shape
    torch.Size([5, 1])
    """
    ### BEGIN SOLUTION
    tokens = torch.full_like(source[:, :1], start_id)  # (batch, 1)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    written = []
    cache = KeyValueCache()
    with torch.no_grad():
        encoder_states = model.encode(source)
        for _ in range(max_length):
            logits = model.decode_step(tokens, encoder_states, cache)  # (batch, 1, vocab_size)
            tokens = logits.argmax(dim=-1).masked_fill(ended, 0)  # (batch, 1)
            written.append(tokens)
            ended = ended | (tokens == end_id)
            if ended.all():
                break
    return torch.cat(written, dim=1)
    ### END SOLUTION


def decode_one_step(
    model: CausalSeq2SeqTransformer,
    tokens: torch.Tensor,
    position: int,
    encoder_states: torch.Tensor,
    encoder_mask: torch.Tensor,
    cache: KeyValueCache,
) -> torch.Tensor:
    """Logits for the next token, when only the newest token is read and the cache
    remembers the others.

    `tokens` is (batch, 1), the newest token of each row; `position` is its position,
    counted from 0. `encoder_states` is (batch, source_length, d_model), `encoder_mask`
    (batch, 1, 1, source_length). `cache` holds the keys and values of the tokens at
    positions 0 to position - 1, and this call adds those of the newest token, for every
    block. Returns logits (batch, 1, vocab_size): the ones that `model` gives at this
    position when it reads the whole prefix at once. No row of the prefix holds padding.

    The parts of `model`, all of which you know from lessons 3 to 5:

    - `model.embedding`, and `model.target_positions.embedding.weight`,
      (max_length, d_model)
    - `model.decoder`, a list of blocks. Each has `norm1`, `self_attention` (with
      `query`, `key`, `value`, `output` and `num_heads`), `norm2`, `cross_attention`,
      `norm3` and `feed_forward`
    - `model.decoder_norm` and `model.head`

    >>> model = CausalSeq2SeqTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> source, answer = torch.randint(1, 13, (5, 9)), torch.randint(1, 13, (5, 4))
    >>> states, mask, cache = model.encode(source), (source != 0)[:, None, None, :], KeyValueCache()
    >>> steps = [decode_one_step(model, answer[:, t : t + 1], t, states, mask, cache) for t in range(4)]
    >>> torch.allclose(torch.cat(steps, dim=1), model(source, answer), atol=1e-5)
    True
    """
    ### BEGIN SOLUTION
    x = model.embedding(tokens) + model.target_positions.embedding.weight[position]  # (batch, 1, d_model)
    blocks: Any = model.decoder  # Any: a ModuleList doesn't tell a type checker what it holds
    for layer, block in enumerate(blocks):
        attention, normed = block.self_attention, block.norm1(x)
        query = split_heads(attention.query(normed), attention.num_heads)  # (batch, heads, 1, d_head)
        new_keys = split_heads(attention.key(normed), attention.num_heads)  # (batch, heads, 1, d_head)
        new_values = split_heads(attention.value(normed), attention.num_heads)
        keys, values = cache.append(layer, new_keys, new_values)  # (batch, heads, position + 1, d_head) each
        seen, _ = scaled_dot_product_attention(query, keys, values)  # no mask: everything cached lies in the past
        x = x + attention.output(merge_heads(seen))
        x = x + block.cross_attention(block.norm2(x), encoder_states, encoder_mask)[0]
        x = x + block.feed_forward(block.norm3(x))
    logits: torch.Tensor = model.head(model.decoder_norm(x))  # (batch, 1, vocab_size)
    return logits
    ### END SOLUTION
