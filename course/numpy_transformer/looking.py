"""Attention maps of a NumPy model, head by head, and a reading of them that anybody can repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.walking import layers_of

FOCUSED, DIAGONAL = 0.7, 0.6


def attention_maps(model: Any, *inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The weights (batch, heads, query_length, key_length) of each attention layer, by the layer's name.

    An attention layer is anything with `query`, `key`, `value` and `output`, whatever it is called. The model runs
    once, and is afterwards as it was.
    """
    found = {
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
        for name, layer in found.items():
            layer.forward = recording(name, layer.forward)
        model.forward(*inputs)
    finally:
        for layer in found.values():
            vars(layer).pop("forward", None)
    return maps


def reading(weights: np.ndarray) -> str:
    """What a head does, in one word, read off its weights on many rows: (batch, query_length, key_length).

    - "diagonal": on average at least 0.6 of a query's weight lies on the key of its own position
    - "focused": on average the largest weight of a query is at least 0.7
    - "spread": neither

    >>> reading(np.full((1, 4, 4), 0.25)), reading(np.eye(4)[None]), reading(np.eye(4)[None, [1, 1, 3, 0]])
    ('spread', 'diagonal', 'focused')
    """
    length = min(weights.shape[-2:])
    own = np.diagonal(weights, axis1=-2, axis2=-1).mean() if length > 1 else 0.0
    if own >= DIAGONAL:
        return "diagonal"
    return "focused" if weights.max(axis=-1).mean() >= FOCUSED else "spread"
