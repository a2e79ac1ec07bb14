"""Drawing inputs from a seeded generator: numbers, texts, and tensors whose dimensions all differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cellcheck.authoring.arrays import as_tensor, is_tensor

if TYPE_CHECKING:
    import torch

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def number(generator: np.random.Generator, low: float = -10.0, high: float = 10.0, digits: int = 2) -> float:
    """One Python float between `low` and `high`, with so many digits behind the point."""
    return round(float(generator.uniform(low, high)), digits)


def numbers(generator: np.random.Generator, count: int, low: float = -10.0, high: float = 10.0) -> list[float]:
    """`count` Python floats, no two alike, in no order."""
    drawn: list[float] = []
    while len(drawn) < count:
        one = number(generator, low, high)
        if one not in drawn:
            drawn.append(one)
    return drawn


def whole_number(generator: np.random.Generator, low: int, high: int) -> int:
    """One Python int from `low` to `high`, both included."""
    return int(generator.integers(low, high + 1))


def word(generator: np.random.Generator, length: int) -> str:
    """A word of so many lower-case letters, which means nothing."""
    return "".join(LETTERS[int(place)] for place in generator.integers(0, len(LETTERS), length))


def words(generator: np.random.Generator, count: int, low: int = 3, high: int = 8) -> list[str]:
    """`count` words, no two alike, of `low` to `high` letters."""
    drawn: list[str] = []
    while len(drawn) < count:
        one = word(generator, whole_number(generator, low, high))
        if one not in drawn:
            drawn.append(one)
    return drawn


def dims(generator: np.random.Generator, count: int, low: int = 2, high: int = 7) -> list[int]:
    """`count` different sizes between `low` and `high`: equal ones hide swapped axes."""
    return [int(n) for n in generator.choice(np.arange(low, high + 1), size=count, replace=False)]


def normal(generator: np.random.Generator, *shape: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Standard normal numbers; float32 unless another dtype is given."""
    drawn = as_tensor(generator.standard_normal(shape))
    return drawn.float() if dtype is None else drawn.to(dtype)


def integers(generator: np.random.Generator, low: int, high: int, *shape: int) -> torch.Tensor:
    """Whole numbers from `low` to `high - 1`, as int64."""
    return as_tensor(generator.integers(low, high, shape))


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, laid out with even gaps: the tensor is not contiguous, and yet `view` works on it."""
    wide = tensor.new_empty(*tensor.shape[:-1], 2 * tensor.shape[-1])
    wide[..., ::2] = tensor
    return wide[..., ::2]


def with_gaps(value: Any) -> Any:
    """The same value; every tensor in it, however deep in dicts, lists and tuples, is `strided`."""
    if isinstance(value, Mapping):
        return {name: with_gaps(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(with_gaps, value))
    return strided(value) if is_tensor(value) and value.dim() else value


def linear(
    generator: np.random.Generator, name: str, d_in: int, d_out: int, dtype: torch.dtype | None = None
) -> dict[str, torch.Tensor]:
    """Weights of an `nn.Linear` by dotted name, sized so that numbers stay near 1 on their way through."""
    return {
        f"{name}.weight": normal(generator, d_out, d_in, dtype=dtype) / d_in**0.5,
        f"{name}.bias": normal(generator, d_out, dtype=dtype) / 2,
    }
