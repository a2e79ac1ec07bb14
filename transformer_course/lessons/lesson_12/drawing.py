"""Drawing the weights of this lesson's modules, by dotted name. The name of a module may be empty."""

from __future__ import annotations

import numpy as np
import torch

from cellcheck.authoring.draw import normal


def gated_weights(
    generator: np.random.Generator, name: str, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a SwiGLU."""
    dot = f"{name}." if name else ""
    sizes = {"gate": (d_ff, d_model), "up": (d_ff, d_model), "down": (d_model, d_ff)}
    return {
        f"{dot}{part}.weight": normal(generator, *size, dtype=dtype) * 1.5 / size[1] ** 0.5
        for part, size in sizes.items()
    }


def grouped_weights(
    generator: np.random.Generator, name: str, d_model: int, d_kv: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a GroupedQueryAttention."""
    dot = f"{name}." if name else ""
    rows = {"query": d_model, "key": d_kv, "value": d_kv, "output": d_model}
    return {
        f"{dot}{part}.weight": normal(generator, n, d_model, dtype=dtype) * 1.3 / d_model**0.5
        for part, n in rows.items()
    }


def modern_weights(
    generator: np.random.Generator, name: str, d_model: int, d_ff: int, d_kv: int, dtype: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a ModernBlock."""
    dot = f"{name}." if name else ""
    return {
        **grouped_weights(generator, f"{dot}attention", d_model, d_kv, dtype),
        **gated_weights(generator, f"{dot}feed_forward", d_model, d_ff, dtype),
        f"{dot}norm1.weight": 1 + normal(generator, d_model, dtype=dtype) / 2,
        f"{dot}norm2.weight": 1 + normal(generator, d_model, dtype=dtype) / 2,
    }
