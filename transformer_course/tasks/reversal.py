"""Reversal as a sequence task: "abba..." in, the same letters backwards out.

Lengths are drawn first and letters second, so that short and long rows are equally common.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch

from transformer_course.tasks.alphabet import PAD_ID, Alphabet

ALPHABET = Alphabet("abcdefghij")
START_ID, END_ID, VOCAB_SIZE = ALPHABET.start_id, ALPHABET.end_id, ALPHABET.size
__all__ = [
    "ALPHABET",
    "END_ID",
    "PAD_ID",
    "START_ID",
    "VOCAB_SIZE",
    "ReversalData",
    "draw_rows",
    "draw_with_repeats",
    "reversal_task",
    "shared_rows",
    "tensors",
]


@dataclass(frozen=True)
class ReversalData:
    """Rows of letters to learn from, and others to be tested on; none stands in both."""

    train: list[str]
    test: list[str]


def draw_rows(
    seed: int, count: int, max_length: int = 10, *, min_length: int = 1, exclude: Collection[str] = ()
) -> list[str]:
    """Draw `count` different rows of letters, none of them in `exclude`.

    >>> draw_rows(seed=0, count=3)
    ['hecfehd', 'dicbbahj', 'jijdhigeb']

    Raises:
        ValueError: when there are too few different rows of these lengths.
    """
    if not 1 <= min_length <= max_length:
        raise ValueError("lengths run from min_length to max_length, and begin at 1")
    generator = random.Random(seed)
    taken = set(exclude)
    rows: list[str] = []
    for _ in range(1000 * count + 1000):
        if len(rows) == count:
            return rows
        row = _draw_one(generator, min_length, max_length)
        if row not in taken:
            taken.add(row)
            rows.append(row)
    raise ValueError(f"fewer than {count} different rows of these lengths are left")


def draw_with_repeats(seed: int, count: int, max_length: int = 10, *, min_length: int = 1) -> list[str]:
    """As `draw_rows`, but carelessly: a row may come twice. To show what a careless split does."""
    generator = random.Random(seed)
    return [_draw_one(generator, min_length, max_length) for _ in range(count)]


def reversal_task(
    seed: int, train: int = 4000, test: int = 500, max_length: int = 10, *, min_length: int = 1
) -> ReversalData:
    """Training and test rows from one draw, so that no test row stands in the training data.

    >>> data = reversal_task(seed=0)
    >>> len(data.train), len(data.test), shared_rows(data.train, data.test)
    (4000, 500, 0)
    """
    drawn = draw_rows(seed, train + test, max_length, min_length=min_length)
    # Short rows run out first and so come early: mix, or the test data would be longer than the training data.
    random.Random(seed).shuffle(drawn)
    return ReversalData(drawn[:train], drawn[train:])


def shared_rows(train: Collection[str], test: Sequence[str]) -> int:
    """How many test rows stand in the training data as well. A clean split has none.

    >>> shared_rows(["ab"], ["ab", "ba"])
    1
    """
    seen = set(train)
    return sum(row in seen for row in test)


def tensors(
    rows: Sequence[str], source_length: int | None = None, target_length: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Source (n, source_length) and target (n, target_length): the rows, and the rows backwards with an end token.

    >>> tensors(["abc"])
    (tensor([[1, 2, 3]]), tensor([[ 3,  2,  1, 12]]))
    """
    return ALPHABET.tensors([(row, row[::-1]) for row in rows], source_length, target_length)


def _draw_one(generator: random.Random, min_length: int, max_length: int) -> str:
    length = generator.randint(min_length, max_length)
    return "".join(generator.choices(ALPHABET.characters, k=length))
