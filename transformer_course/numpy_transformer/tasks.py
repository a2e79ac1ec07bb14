"""The data of lesson 9, as arrays: digit operations, plain and nested, and rows of letters to be reversed.

Id 0 is padding. The digit d has the id d + 1, in questions and in answers.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

OPERATIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "first": lambda digits: digits[0],
    "second": lambda digits: digits[1],
    "last": lambda digits: digits[-1],
    "max": max,
    "min": min,
}
NAMES = list(OPERATIONS)
SYMBOLS = ["_", *"0123456789", *NAMES, "(", ")", "^", "."]  # what each id stands for
OPEN, CLOSE, START, END = (SYMBOLS.index(mark) for mark in "()^.")
VOCAB_SIZE = len(SYMBOLS)
LETTERS = "abcdefghij"
LETTER_START, LETTER_END, LETTER_VOCAB = len(LETTERS) + 1, len(LETTERS) + 2, len(LETTERS) + 3

Question = tuple[str, tuple[int, ...]]  # ("first", (4, 7, 9))


@dataclass(frozen=True)
class Split:
    """Questions to learn from, others to choose by, and others to be tested on at the end. None is in two of them."""

    train: list[Question]
    validation: list[Question]
    test: list[Question]


def questions(seed: int, validation: int = 500, test: int = 1000) -> Split:
    """All 5,000 questions about three digits, shuffled and split.

    >>> data = questions(seed=0)
    >>> len(data.train), len(data.validation), len(data.test)
    (3500, 500, 1000)
    >>> len({*data.train, *data.validation, *data.test})
    5000
    """
    everything: list[Question] = list(product(NAMES, product(range(10), repeat=3)))
    random.Random(seed).shuffle(everything)
    alike = Counter((question[0], answer(question)) for question in everything)
    everything.sort(key=lambda question: alike[question[0], answer(question)] == 1)  # the two come last
    return Split(everything[test + validation :], everything[test : test + validation], everything[:test])


def answer(question: Question) -> int:
    """The digit that a question asks for.

    >>> answer(("second", (4, 7, 9)))
    7
    """
    operation, digits = question
    return OPERATIONS[operation](digits)


def as_arrays(asked: Sequence[Question]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens (n, 1 + digits), the operation first, and the ids of the answers (n,).

    >>> as_arrays([("first", (4, 7, 9))])
    (array([[11,  5,  8, 10]]), array([5]))
    """
    rows = [[SYMBOLS.index(operation), *(digit + 1 for digit in digits)] for operation, digits in asked]
    return np.array(rows), np.array([answer(question) + 1 for question in asked])


def baselines(data: Split) -> dict[str, dict[str, float]]:
    """{rule: {operation: share of validation questions it gets right}} for two rules that read next to nothing.

    "most common answer" always gives the operation's most common training answer; "any of the three" picks one of
    the digits blindly, and its share is what that gets on average.

    >>> {name: round(share, 2) for name, share in baselines(questions(0))["any of the three"].items()}
    {'first': 0.4, 'second': 0.42, 'last': 0.42, 'max': 0.39, 'min': 0.38}
    """
    shares: dict[str, dict[str, float]] = {"most common answer": {}, "any of the three": {}}
    for name in NAMES:
        common = Counter(answer(question) for question in data.train if question[0] == name).most_common(1)[0][0]
        asked = [question for question in data.validation if question[0] == name]
        shares["most common answer"][name] = float(np.mean([answer(question) == common for question in asked]))
        blind = [digits.count(answer((name, digits))) / len(digits) for _, digits in asked]
        shares["any of the three"][name] = float(np.mean(blind))
    return shares


def nested_questions(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` different questions such as max ( first ( 2 8 1 ) 5 3 ): tokens (count, 11), ids of answers (count,).

    One of the three arguments, drawn at random, is itself a question about three digits.

    >>> tokens, answers = nested_questions(seed=0, count=1)
    >>> " ".join(SYMBOLS[token] for token in tokens[0]), SYMBOLS[answers[0]]
    ('min ( 4 max ( 4 2 5 ) 7 )', '4')
    """
    generator = random.Random(seed)
    drawn: dict[tuple[int, ...], int] = {}
    while len(drawn) < count:
        outer, inner = generator.choices(NAMES, k=2)
        digits, others = generator.choices(range(10), k=3), generator.choices(range(10), k=2)
        place = generator.randrange(3)
        arguments = [[digit + 1] for digit in others]
        arguments.insert(place, [SYMBOLS.index(inner), OPEN, *(digit + 1 for digit in digits), CLOSE])
        row = SYMBOLS.index(outer), OPEN, *(token for argument in arguments for token in argument), CLOSE
        others.insert(place, answer((inner, tuple(digits))))
        drawn[row] = answer((outer, tuple(others))) + 1
    return np.array(list(drawn)), np.array(list(drawn.values()))


def reversal(seed: int, train: int = 6000, test: int = 500, max_length: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Rows of letters, all different, as ids (train + test, max_length), and the same backwards with an end token.

    Lengths are drawn first and letters second, so that short and long rows are about equally common, as far as there
    are enough short ones. The first `train` rows are for training.

    >>> sources, targets = reversal(seed=0, train=3, test=1, max_length=4)
    >>> sources[0], targets[0]
    (array([7, 5, 8, 6]), array([ 6,  8,  5,  7, 12]))
    """
    generator = random.Random(seed)
    rows: list[tuple[int, ...]] = []
    taken: set[tuple[int, ...]] = set()
    while len(rows) < train + test:
        length = generator.randint(1, max_length)
        row = tuple(generator.randint(1, len(LETTERS)) for _ in range(length))
        if row not in taken:
            taken.add(row)
            rows.append(row)
    generator.shuffle(rows)  # short rows run out first, and so come early
    sources = np.zeros((len(rows), max_length), dtype=int)
    targets = np.zeros((len(rows), max_length + 1), dtype=int)
    for place, row in enumerate(rows):
        sources[place, : len(row)] = row
        targets[place, : len(row) + 1] = *reversed(row), LETTER_END
    return sources, targets


def shifted(targets: np.ndarray, start_id: int) -> np.ndarray:
    """What a decoder reads: the targets, moved one position to the right behind a start token.

    >>> shifted(np.array([[5, 8, 12]]), start_id=11)
    array([[11,  5,  8]])
    """
    read = np.roll(targets, 1, axis=1)
    read[:, 0] = start_id
    return read


def letters(ids: Sequence[int] | np.ndarray) -> str:
    """A row of ids as letters, up to its end.

    >>> letters([2, 1, 4, 12, 0])
    'bad'
    """
    return "".join(("_" + LETTERS + "^.")[one] for one in ids).partition(".")[0].replace("_", "")
