"""A language model of today with its cache in blocks: new tokens of many texts in one pass, whatever their lengths.

The parts are found by the names that a `ModernLanguageModel` gives them.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import nn

from transformer_course.attention import scaled_dot_product_attention, split_heads
from transformer_course.fast_answers.serving import BlockCache
from transformer_course.positions import rotary_embedding


class Blocks(Protocol):
    """What is asked of a cache: see `BlockCache`."""

    def append(self, text: Hashable, key: torch.Tensor, value: torch.Tensor) -> None: ...

    def read(self, text: Hashable) -> tuple[torch.Tensor, torch.Tensor]: ...

    def truncate(self, text: Hashable, length: int) -> None: ...

    def free(self) -> int: ...


def new_caches(
    model: nn.Module, num_heads: int, num_blocks: int, block_size: int, kind: type[Any] = BlockCache
) -> list[Blocks]:
    """An empty cache for each block of the model."""
    parts: Any = model
    return [kind(num_blocks, block_size, block.attention.key.weight.shape[0]) for block in parts.blocks]


def read_on(
    model: nn.Module, new: Mapping[Hashable, Sequence[int]], caches: Sequence[Blocks], num_heads: int
) -> dict[Hashable, torch.Tensor]:
    """One pass over the new tokens of each text: {text: ids} -> {text: logits (new,
    vocab_size)}.

    What the texts had before is in the caches, one for each block of the model, and this
    call adds the new tokens. All linear layers work on the new tokens of all texts side
    by side; in the attention, each text reads its own.

    >>> from transformer_course.language_model.modern import ModernLanguageModel
    >>> model = ModernLanguageModel(13, d_model=16, num_heads=4, num_kv_heads=2, d_ff=40, num_layers=2)
    >>> caches = new_caches(model, 4, num_blocks=9, block_size=2)
    >>> _ = read_on(model, {"a": [5, 2, 8], "b": [1]}, caches, 4)
    >>> logits = read_on(model, {"b": [7, 7], "a": [3]}, caches, 4)
    >>> torch.allclose(logits["a"][-1], model(torch.tensor([[5, 2, 8, 3]]))[0, -1], atol=1e-5)
    True
    """
    parts: Any = model
    spans, start = {}, 0
    for text, ids in new.items():
        spans[text], start = slice(start, start + len(ids)), start + len(ids)
    before = {text: len(caches[0].read(text)[0]) for text in new}
    places = torch.cat([torch.arange(before[text], before[text] + len(ids)) for text, ids in new.items()])
    x = parts.embedding(torch.tensor([i for ids in new.values() for i in ids]))  # (new of all texts, d_model)
    d_head = x.shape[-1] // num_heads
    for block, cache in zip(parts.blocks, caches, strict=True):
        attention, normed = block.attention, block.norm1(x)[None]
        kv_heads = attention.key.weight.shape[0] // d_head
        query = rotary_embedding(split_heads(attention.query(normed), num_heads), places)[0]  # (heads, new, d_head)
        turned = rotary_embedding(split_heads(attention.key(normed), kv_heads), places)[0]  # (kv heads, new, d_head)
        keys, values = turned.transpose(0, 1).flatten(1), attention.value(normed)[0]  # (new, kv heads * d_head) each
        seen = []
        for text, span in spans.items():
            for key, value in zip(keys[span], values[span], strict=True):
                cache.append(text, key, value)
            all_keys, all_values = (
                split_heads(part[None], kv_heads)[0].repeat_interleave(num_heads // kv_heads, dim=0)
                for part in cache.read(text)
            )  # (heads, length, d_head) each
            visible = torch.arange(all_keys.shape[1]) <= places[span, None]  # (new, length)
            heads, _ = scaled_dot_product_attention(query[:, span], all_keys, all_values, visible)
            seen.append(heads.transpose(0, 1).flatten(1))  # (new, d_model)
        x = x + attention.output(torch.cat(seen))
        x = x + block.feed_forward(block.norm2(x))
    logits = parts.output(parts.final_norm(x))
    return {text: logits[span] for text, span in spans.items()}
