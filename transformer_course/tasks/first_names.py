"""First names that people in English-speaking countries have, as one long text with a name a line.

Source: Grady Ward, Moby Word II, 2002; see data/README.md.
"""

import random
from functools import cache

from transformer_course.data import data_file

END = "\n"
"""Ends a name, and so begins the next one."""


@cache
def first_names() -> tuple[str, ...]:
    """8,422 different names, in lower case and in alphabetical order.

    >>> first_names()[:3], len(first_names())
    (('aaren', 'aarika', 'aaron'), 8422)
    """
    lines = [line for part in ("female", "male") for line in data_file(f"first_names_{part}.txt").read_text().split()]
    return tuple(sorted({line.lower() for line in lines}))


def shuffled_names(seed: int = 0) -> list[str]:
    """All names in random order: in alphabetical order, one name would give the next
    away.
    """
    names = list(first_names())
    random.Random(seed).shuffle(names)
    return names
