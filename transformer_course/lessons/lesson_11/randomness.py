"""Where a learner's function takes its randomness from."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def source_of_randomness(draw: Callable[[torch.Generator], Any], seed: int) -> str:
    """In words, from a few draws: the same seed twice, others, and one generator twice.

    One other seed may give the same result by chance, where each draw begins anew; several don't.
    """

    def state_of_all() -> list[Any]:
        return [torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()]  # type: ignore[index]

    before = state_of_all()
    generator = torch.Generator().manual_seed(seed)
    first, second = draw(generator), draw(generator)
    if first != draw(torch.Generator().manual_seed(seed)):
        return "another result with the same seed"
    if all(first == draw(torch.Generator().manual_seed(seed + other)) for other in range(1, 7)):
        return "the same result with another seed"
    if first == second:
        return "the same result when it is called again"
    return "from the generator alone" if state_of_all() == before else "the global generator is used too"
