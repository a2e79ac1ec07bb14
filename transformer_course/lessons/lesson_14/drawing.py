"""Drawing numbers and sums, as text."""

import numpy as np

DIGITS = "0123456789"


def draw_number(generator: np.random.Generator, digits: int, without: str = "09") -> str:
    """A number of so many digits; none of them is one of `without`."""
    allowed = [digit for digit in DIGITS if digit not in without]
    return "".join(generator.choice(allowed, size=digits))


def draw_sum(generator: np.random.Generator, *digits: int, without: str = "09") -> str:
    """A sum of numbers with so many digits each."""
    return "+".join(draw_number(generator, count, without) for count in digits)
