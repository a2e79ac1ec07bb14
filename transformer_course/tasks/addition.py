"""Addition as a sequence task: "12+345" in, the digits of 357 out.

Lengths are drawn first and digits second, so that short and long numbers are equally common. How a problem is
*written* is apart from how it is drawn: with the answer's digits in either order, at fixed or variable width.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch

from transformer_course.tasks.alphabet import PAD_ID, Alphabet

Pair = tuple[int, int]  # the two numbers of a problem

ALPHABET = Alphabet("0123456789+")  # the digit d has id d + 1
PLUS_ID = ALPHABET.encode("+")[0]
START_ID, END_ID, VOCAB_SIZE = ALPHABET.start_id, ALPHABET.end_id, ALPHABET.size
__all__ = [
    "ALPHABET",
    "END_ID",
    "PAD_ID",
    "PLUS_ID",
    "START_ID",
    "VOCAB_SIZE",
    "AdditionData",
    "Pair",
    "Writing",
    "addition_task",
    "baseline_exact",
    "draw_pairs",
    "draw_with_repeats",
    "long_carries",
    "shared_pairs",
]


@dataclass(frozen=True)
class Writing:
    """How problems are written down.

    `least_first` writes the answer's least significant digit first, and `operands_least_first` does so with the two
    numbers. With `width` both numbers get that many digits and the answer one more, with zeros in front; without it
    each has its natural length.

    >>> Writing().texts((12, 345)), Writing(least_first=False, width=3).texts((12, 345))
    (('12+345', '753'), ('012+345', '0357'))
    """

    least_first: bool = True
    operands_least_first: bool = False
    width: int | None = None

    def texts(self, pair: Pair) -> tuple[str, str]:
        """A problem and its answer, as texts."""
        first, second = (str(number).zfill(self.width or 0) for number in pair)
        answer = str(sum(pair)).zfill(self.width + 1 if self.width else 0)
        if self.operands_least_first:
            first, second = first[::-1], second[::-1]
        return f"{first}+{second}", answer[::-1] if self.least_first else answer

    def tensors(
        self, pairs: Sequence[Pair], source_length: int | None = None, target_length: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Source (n, source_length) and target (n, target_length) of all problems; see `Alphabet.tensors`.

        >>> Writing().tensors([(7, 5)])
        (tensor([[ 8, 11,  6]]), tensor([[ 3,  2, 13]]))
        """
        return ALPHABET.tensors([self.texts(pair) for pair in pairs], source_length, target_length)

    def number(self, ids: Sequence[int] | torch.Tensor) -> int | None:
        """The number that a row of ids says, or None where it says none.

        >>> Writing().number([3, 2, 13])
        12
        """
        text = ALPHABET.answer(ids)
        return int(text[::-1] if self.least_first else text) if text.isdecimal() else None


@dataclass(frozen=True)
class AdditionData:
    """Problems to learn from, and others to be tested on; none stands in both."""

    train: list[Pair]
    test: list[Pair]


def draw_pairs(
    seed: int, count: int, max_digits: int = 3, *, min_digits: int = 1, exclude: Collection[Pair] = ()
) -> list[Pair]:
    """Draw `count` different problems, none of them in `exclude`. (12, 3) and (3, 12) are two.

    >>> draw_pairs(seed=0, count=3)
    [(15, 43), (514, 48), (84, 37)]

    Raises:
        ValueError: when there are too few different problems of these lengths.
    """
    if not 1 <= min_digits <= max_digits:
        raise ValueError("lengths run from min_digits to max_digits, and begin at 1")
    generator = random.Random(seed)
    taken = set(exclude)
    pairs: list[Pair] = []
    for _ in range(1000 * count + 1000):
        if len(pairs) == count:
            return pairs
        pair = _draw_one(generator, min_digits, max_digits)
        if pair not in taken:
            taken.add(pair)
            pairs.append(pair)
    raise ValueError(f"fewer than {count} different problems of these lengths are left")


def draw_with_repeats(seed: int, count: int, max_digits: int = 3, *, min_digits: int = 1) -> list[Pair]:
    """As `draw_pairs`, but carelessly: a problem may come twice. To show what a careless split does."""
    generator = random.Random(seed)
    return [_draw_one(generator, min_digits, max_digits) for _ in range(count)]


def long_carries(
    seed: int, count: int, digits: int, *, shortest: int = 3, exclude: Collection[Pair] = ()
) -> list[Pair]:
    """Problems in which one carry travels through at least `shortest` places: 23456+16547, where 6+7 changes the 2+1.

    Both numbers have all their digits. Somewhere one place makes a carry, and each of the next places has two digits
    that sum to 9, so that the carry passes on. The other digits are random.

    >>> long_carries(seed=0, count=2, digits=5)
    [(37824, 92177), (89899, 50104)]

    Raises:
        ValueError: when so long a carry does not fit, or there are too few problems.
    """
    if not 1 <= shortest < digits:
        raise ValueError(f"a carry through {shortest} places needs numbers of more than {shortest} digits")
    generator = random.Random(seed)
    taken = set(exclude)
    pairs: list[Pair] = []
    for _ in range(1000 * count + 1000):
        if len(pairs) == count:
            return pairs
        length = generator.randint(shortest, digits - 1)
        start = generator.randint(0, digits - 1 - length)  # the place that makes the carry; 0 is the lowest
        columns = [(generator.randint(0, 9), generator.randint(0, 9)) for _ in range(digits)]
        first = generator.randint(1, 9)
        columns[start] = (first, generator.randint(10 - first, 9))
        for place in range(start + 1, start + 1 + length):
            first = generator.randint(0, 9)
            columns[place] = (first, 9 - first)
        pair = (_number([first for first, _ in columns]), _number([second for _, second in columns]))
        if pair not in taken and 0 not in columns[-1]:  # no number begins with 0
            taken.add(pair)
            pairs.append(pair)
    raise ValueError(f"fewer than {count} different problems with so long a carry are left")


def addition_task(
    seed: int, train: int = 4000, test: int = 500, max_digits: int = 3, *, min_digits: int = 1
) -> AdditionData:
    """Training and test problems from one draw, so that no test problem stands in the training data.

    >>> data = addition_task(seed=0)
    >>> len(data.train), len(data.test), shared_pairs(data.train, data.test)
    (4000, 500, 0)
    """
    drawn = draw_pairs(seed, train + test, max_digits, min_digits=min_digits)
    # Short problems run out first and so come early: mix, or the test data would be longer than the training data.
    random.Random(seed).shuffle(drawn)
    return AdditionData(drawn[:train], drawn[train:])


def shared_pairs(train: Collection[Pair], test: Sequence[Pair]) -> int:
    """How many test problems stand in the training data as well. A clean split has none.

    >>> shared_pairs([(1, 2)], [(1, 2), (2, 1)])
    1
    """
    seen = set(train)
    return sum(pair in seen for pair in test)


def baseline_exact(pairs: Sequence[Pair]) -> dict[str, float]:
    """The share of sums that two shortcuts get right.

    "no carries" adds each column by itself. "carry from the neighbour only" lets a place carry into the next one when
    its own two digits make 10 or more, and never passes a carry on.

    >>> baseline_exact([(21, 7), (18, 5), (95, 5)])
    {'no carries': 0.3333333333333333, 'carry from the neighbour only': 0.6666666666666666}
    """
    rules = {"no carries": False, "carry from the neighbour only": True}
    return {
        name: sum(_columnwise(pair, carries) == sum(pair) for pair in pairs) / len(pairs)
        for name, carries in rules.items()
    }


def _draw_one(generator: random.Random, min_digits: int, max_digits: int) -> Pair:
    lengths = [generator.randint(min_digits, max_digits) for _ in range(2)]
    first, second = (generator.randrange(0 if n == 1 else 10 ** (n - 1), 10**n) for n in lengths)
    return first, second


def _number(lowest_first: Sequence[int]) -> int:
    return sum(digit * 10**place for place, digit in enumerate(lowest_first))


def _columnwise(pair: Pair, carries: bool) -> int:
    """The sum as a shortcut sees it: each column with, at most, the carry of the column before it alone."""
    places = range(len(str(max(pair))) + 1)
    columns = [pair[0] // 10**place % 10 + pair[1] // 10**place % 10 for place in places]
    carried = [0, *(int(column >= 10) for column in columns)] if carries else [0] * (len(columns) + 1)
    return _number([(column + carry) % 10 for column, carry in zip(columns, carried, strict=False)])
