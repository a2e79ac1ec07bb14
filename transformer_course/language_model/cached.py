"""A language model of today with the cache of lesson 7: it reads each token once.

The parts are found by the names that a `ModernLanguageModel` gives them.
"""

from typing import Any

import torch
from torch import nn

from transformer_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from transformer_course.cached_model import Cache
from transformer_course.positions import rotary_embedding


def next_logits(model: nn.Module, token: torch.Tensor, position: int, cache: Cache, num_heads: int) -> torch.Tensor:
    """Logits for the next token, when only the newest one is read: (batch, 1) ->
    (batch, 1, vocab_size).

    `position` is that of the newest token, counted from 0. `cache` holds the keys and
    values of the tokens before it, and this call adds those of the newest one. The
    keys are cached after their rotation: a token keeps its position. Only the key heads
    are kept, not a copy for each query head.

    >>> from transformer_course.caching import KeyValueCache
    >>> from transformer_course.language_model.modern import ModernLanguageModel
    >>> model = ModernLanguageModel(13, d_model=16, num_heads=4, num_kv_heads=2, d_ff=40, num_layers=2)
    >>> tokens, cache = torch.randint(13, (3, 5)), KeyValueCache()
    >>> steps = [next_logits(model, tokens[:, i : i + 1], i, cache, num_heads=4) for i in range(5)]
    >>> torch.allclose(torch.cat(steps, dim=1), model(tokens), atol=1e-5)
    True
    """
    parts: Any = model
    places = torch.tensor([position], device=token.device)
    x = parts.embedding(token)  # (batch, 1, d_model)
    d_head = x.shape[-1] // num_heads
    for layer, block in enumerate(parts.blocks):
        attention, normed = block.attention, block.norm1(x)
        query = rotary_embedding(split_heads(attention.query(normed), num_heads), places)  # (batch, heads, 1, d_head)
        new_keys, new_values = attention.key(normed), attention.value(normed)  # (batch, 1, kv heads * d_head) each
        kv_heads = new_keys.shape[-1] // d_head
        keys, values = cache.append(
            layer, rotary_embedding(split_heads(new_keys, kv_heads), places), split_heads(new_values, kv_heads)
        )  # (batch, kv heads, position + 1, d_head) each
        group = num_heads // kv_heads
        keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)
        seen, _ = scaled_dot_product_attention(query, keys, values)  # no mask: all that is cached lies in the past
        x = x + attention.output(merge_heads(seen))
        x = x + block.feed_forward(block.norm2(x))
    logits: torch.Tensor = parts.output(parts.final_norm(x))  # (batch, 1, vocab_size)
    return logits


def cache_bytes(
    num_layers: int, num_kv_heads: int, d_head: int, length: int, batch: int = 1, bytes_each: int = 4
) -> int:
    """How much a cache of keys and values takes: 2 * layers * key heads * d_head numbers
    for each token.

    >>> cache_bytes(num_layers=32, num_kv_heads=8, d_head=128, length=8192, bytes_each=2)  # Llama 3 with 8B weights
    1073741824
    """
    return 2 * num_layers * num_kv_heads * d_head * length * batch * bytes_each
