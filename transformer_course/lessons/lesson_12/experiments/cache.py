"""The cache of lesson 7 with the new model: the same tokens, the memory it takes, and the time it saves."""

import time
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.caching import KeyValueCache
from transformer_course.language_model.cached import cache_bytes, next_logits


class Measured(KeyValueCache):
    """The cache of lesson 7, which also says how many bytes it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[int, int] = {}

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        pair = super().append(layer, keys, values)
        self.held[layer] = sum(part.numel() * part.element_size() for part in pair)
        return pair


def with_cache(model: nn.Module, prompt: torch.Tensor, new: int, num_heads: int) -> tuple[torch.Tensor, int]:
    """The greedy continuation, each token read once; and the bytes in the cache at the end."""
    cache, ids = Measured(), prompt
    with torch.no_grad():
        for place in range(len(prompt) + new - 1):
            logits = next_logits(model, ids[place].reshape(1, 1), place, cache, num_heads)
            if place >= len(prompt) - 1:
                ids = torch.cat([ids, logits[0, -1:].argmax(dim=-1)])
    return ids, sum(cache.held.values())


def without_cache(model: nn.Module, prompt: torch.Tensor, new: int) -> torch.Tensor:
    """The greedy continuation, with everything read again for each token."""
    ids = prompt
    with torch.no_grad():
        for _ in range(new):
            ids = torch.cat([ids, model(ids[None])[0, -1:].argmax(dim=-1)])
    return ids


def cache_costs(kind: type[nn.Module], length: int = 200) -> pd.DataFrame:
    """Models that share keys more and more: bytes by the formula and as measured, and seconds with and without."""
    rows: list[dict[str, Any]] = []
    for kv_heads in (8, 4, 2, 1):
        torch.manual_seed(0)
        model = kind(60, 64, 8, kv_heads, 160, 2).eval()
        prompt = torch.tensor([7])
        start = time.process_time()
        quick, held = with_cache(model, prompt, length, num_heads=8)
        middle = time.process_time()
        slow = without_cache(model, prompt, length)
        rows.append(
            {
                "key heads": kv_heads,
                "bytes, by the formula": cache_bytes(2, kv_heads, 8, length),
                "bytes, measured": held,
                "same tokens": torch.equal(quick, slow),
                "seconds with the cache": round(middle - start, 2),
                "seconds without": round(time.process_time() - middle, 2),
            }
        )
    return pd.DataFrame(rows)
