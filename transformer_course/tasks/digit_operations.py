"""Digit operations: an operation and three digits in, one digit out. "first 479" is 4, "max 479" is 9.

There are 5 operations and 1,000 triples of digits, so 5,000 inputs in all: enough to learn from, and few enough to
list. Three operations ask *where* a digit stands. The other two ask only which digits there are.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import torch

Triple = tuple[int, int, int]
Example = tuple[str, Triple]  # ("first", (4, 7, 9))

OPERATIONS: dict[str, Callable[[Triple], int]] = {
    "first": lambda digits: digits[0],
    "second": lambda digits: digits[1],
    "last": lambda digits: digits[2],
    "max": max,
    "min": min,
}
VOCAB_SIZE = 1 + 10 + len(OPERATIONS)  # padding is id 0, the digit d has id d + 1, and then come the operations
LENGTH = 4  # the operation and three digits
CLASSES = 10


@dataclass(frozen=True)
class DigitData:
    """Inputs to learn from, and others to be tested on; no input stands in both."""

    train: list[Example]
    test: list[Example]


def digit_operations(seed: int, test_share: float = 0.2) -> DigitData:
    """All 5,000 inputs, shuffled and split.

    >>> data = digit_operations(seed=0)
    >>> len(data.train), len(data.test), len(set(data.train) & set(data.test))
    (4000, 1000, 0)
    """
    examples: list[Example] = [(name, (a, b, c)) for name in OPERATIONS for a, b, c in product(range(10), repeat=3)]
    random.Random(seed).shuffle(examples)
    cut = round(len(examples) * test_share)
    return DigitData(examples[cut:], examples[:cut])


def answer(example: Example) -> int:
    """The digit that an input asks for.

    >>> answer(("second", (4, 7, 9)))
    7
    """
    operation, digits = example
    return OPERATIONS[operation](digits)


def tensors(examples: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens (n, 4), the operation first, and labels (n,), which are the digits themselves.

    >>> tensors([("first", (4, 7, 9))])
    (tensor([[11,  5,  8, 10]]), tensor([4]))
    """
    names = list(OPERATIONS)
    rows = [[11 + names.index(operation), *(digit + 1 for digit in digits)] for operation, digits in examples]
    return torch.tensor(rows), torch.tensor([answer(example) for example in examples])


def baseline_accuracies(train: Sequence[Example], test: Sequence[Example]) -> dict[str, dict[str, float]]:
    """{trivial rule: {operation: share of test inputs that it gets right}}.

    "most common answer" gives the most frequent training answer of the operation. "any of the three" picks one of the
    three digits blindly; its share is what it gets on average.

    >>> data = digit_operations(seed=0)
    >>> {name: round(share, 2) for name, share in baseline_accuracies(*vars(data).values())["any of the three"].items()}
    {'first': 0.39, 'second': 0.41, 'last': 0.4, 'max': 0.39, 'min': 0.39}
    """
    shares: dict[str, dict[str, float]] = {"most common answer": {}, "any of the three": {}}
    for operation in OPERATIONS:
        most_common = Counter(answer(example) for example in train if example[0] == operation).most_common(1)[0][0]
        asked = [example for example in test if example[0] == operation]
        shares["most common answer"][operation] = sum(answer(one) == most_common for one in asked) / len(asked)
        hits = sum(digits.count(OPERATIONS[operation](digits)) / 3 for _, digits in asked)
        shares["any of the three"][operation] = hits / len(asked)
    return shares
