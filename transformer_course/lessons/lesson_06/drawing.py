"""Drawing bases, positions, and vectors of several heads."""

import numpy as np
import torch


def draw_base(generator: np.random.Generator) -> float:
    """A base far from 10000."""
    return float(generator.integers(20, 300))


def draw_positions(generator: np.random.Generator, length: int) -> torch.Tensor:
    """Different positions up to 40, in no order, and none of them its own index."""
    while True:
        places = torch.from_numpy(generator.choice(np.arange(1, 40), size=length, replace=False))
        if places.max() < 20:  # so that a short table doesn't do
            continue
        if not (places == torch.arange(length)).any() and (length == 1 or (places.diff() < 0).any()):
            return places


def with_heads_cut_out(x: torch.Tensor) -> torch.Tensor:
    """The same numbers, laid out as `split_heads` leaves them: length before heads in memory."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)
