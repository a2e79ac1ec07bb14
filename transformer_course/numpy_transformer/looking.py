"""Attention maps of a NumPy model, head by head, and a reading of them that anybody can repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from transformer_course.numpy_transformer.walking import layers_of

FOCUSED = 0.7


def attention_maps(model: Any, *inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The weights (batch, heads, query_length, key_length) of each attention layer, by the layer's name.

    An attention layer is anything with `query`, `key`, `value` and `output`, whatever it is called. The model runs
    once, and is afterwards as it was.
    """
    layers = {
        name: layer
        for name, layer in layers_of(model)
        if all(hasattr(layer, part) for part in ("query", "key", "value", "output"))
    }
    maps: dict[str, np.ndarray] = {}

    def recording(name: str, forward: Any) -> Any:
        def run(*arguments: Any, **options: Any) -> Any:
            output, maps[name] = forward(*arguments, **options)
            return output, maps[name]

        return run

    try:
        for name, layer in layers.items():
            layer.forward = recording(name, layer.forward)
        model.forward(*inputs)
    finally:
        for layer in layers.values():
            vars(layer).pop("forward", None)
    return maps


def reading(weights: np.ndarray) -> str:
    """What a head does, in one word, read off its weights on many rows: (batch, query_length, key_length).

    "focused" if the largest weight of a query is at least 0.7, on average over all queries, else "spread".

    >>> reading(np.full((1, 4, 4), 0.25)), reading(np.eye(4)[None])
    ('spread', 'focused')
    """
    return "focused" if weights.max(axis=-1).mean() >= FOCUSED else "spread"
