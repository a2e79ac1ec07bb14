"""Rows of tokens with padding, and logits over them, drawn so that every mistake shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.draw import normal
from cellcheck.authoring.spec import Case, Observation

Draw = dict[str, Any]


def draw_tokens(
    generator: np.random.Generator, lengths: Sequence[int], width: int, vocab_size: int, pad_id: int = 0
) -> torch.Tensor:
    """Rows of `lengths` real tokens, padded on the right to `width` columns with `pad_id`."""
    real = np.setdiff1d(np.arange(vocab_size), [pad_id])
    tokens = np.full((len(lengths), width), pad_id)
    for row, length in zip(tokens, lengths, strict=True):
        row[:length] = generator.choice(real, length)
    return torch.from_numpy(tokens)


def ragged(generator: np.random.Generator, batch: int, width: int) -> list[int]:
    """Lengths of `batch` rows: one full, one of a single token, the others between."""
    between = generator.integers(1, width + 1, max(batch - 2, 0))
    lengths = [width, 1, *map(int, between)][:batch]
    return [int(n) for n in generator.permutation(lengths)]


def answer(generator: np.random.Generator, targets: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    """What a half-learnt model would say: some tokens right, some not, some of them padding; over padding, either."""
    ids = targets.clone()
    for place in np.ndindex(*targets.shape):
        if generator.random() < 0.45:
            others = np.setdiff1d(np.arange(vocab_size), [int(targets[place])])
            ids[place] = int(pad_id if generator.random() < 0.3 and pad_id in others else generator.choice(others))
    return ids


def logits_for(
    generator: np.random.Generator, ids: torch.Tensor, vocab_size: int, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    """Logits (..., vocab_size) whose highest is that of `ids`, by a clear margin."""
    logits = normal(generator, *ids.shape, vocab_size, dtype=dtype)
    top = logits.argmax(-1, keepdim=True)
    chosen = ids.unsqueeze(-1)
    highest, there = logits.gather(-1, top), logits.gather(-1, chosen)
    return logits.scatter(-1, top, there).scatter(-1, chosen, highest + 0.2)


def draw_scored(
    generator: np.random.Generator,
    lengths: Sequence[int],
    width: int,
    vocab_size: int,
    dtype: torch.dtype = torch.float32,
    pad_id: int = 0,
) -> Draw:
    """`logits` (batch, width, vocab_size) and `targets` (batch, width), with `pad_id` where it is not 0."""
    targets = draw_tokens(generator, lengths, width, vocab_size, pad_id)
    logits = logits_for(generator, answer(generator, targets, vocab_size, pad_id), vocab_size, dtype)
    return {"logits": logits, "targets": targets, **({"pad_id": pad_id} if pad_id else {})}


def turned(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, with the last two axes swapped in memory: no `view` joins axes across them."""
    return tensor.mT.contiguous().mT


def as_number(value: Any) -> Any:
    """A tensor or an array of no axis as a Python float: which of them a measure comes in is open."""
    scalar = isinstance(value, torch.Tensor | np.ndarray) and value.ndim == 0
    if scalar or (isinstance(value, int) and not isinstance(value, bool)):
        return float(value)
    return value


def with_an_empty_source(batch: int, length: int) -> torch.Tensor:
    """(batch, 1, 1, length), for three rows or more: one without padding, one that is all padding, others between."""
    lengths = [length, *(1 + i % (length - 1) for i in range(batch - 2)), 0]
    return (torch.arange(length) < torch.tensor(lengths)[:, None])[:, None, None, :]


def a_number(observation: Observation, case: Case) -> Observation:
    """The canonical form of a measure: see `as_number`."""
    return {**observation, "output": as_number(observation["output"])}
