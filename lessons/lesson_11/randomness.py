"""Where a learner's function takes its randomness from."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def source_of_randomness(draw: Callable[[torch.Generator], Any], seed: int) -> str:
    """In words, from four draws: the same seed twice, another one, and one generator twice."""

    def state_of_all() -> list[Any]:
        return [torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()]  # type: ignore[index]

    before = state_of_all()
    generator = torch.Generator().manual_seed(seed)
    first, second = draw(generator), draw(generator)
    if first != draw(torch.Generator().manual_seed(seed)):
        return "another result with the same seed"
    if first == draw(torch.Generator().manual_seed(seed + 1)):
        return "the same result with another seed"
    if first == second:
        return "the same result when it is called again"
    return "from the generator alone" if state_of_all() == before else "the global generator is used too"
