"""The bits of a float of 16 or 32 bits."""

from collections.abc import Sequence

import torch

_SAME_SIZE = {torch.bfloat16: torch.int16, torch.float16: torch.int16, torch.float32: torch.int32}


def bits_of(numbers: Sequence[float], dtype: torch.dtype) -> list[list[int]]:
    """For each number, rounded to dtype, its bits: the sign, then the exponent, then the fraction."""
    whole = torch.tensor(numbers).to(dtype).view(_SAME_SIZE[dtype]).tolist()
    size = 8 * dtype.itemsize
    return [[(number >> place) & 1 for place in reversed(range(size))] for number in whole]
