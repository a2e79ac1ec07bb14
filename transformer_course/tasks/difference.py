"""The difference task: strings such as "321-4", and the question whether the first number is the larger one.

Lengths are drawn first and digits second, so that short and long numbers are equally common. Both operands run
through all lengths from `min_digits` to `max_digits`: no position is left that only one of them has been seen in.
The two numbers are never equal, so the mirror image "4-321" of an example always has the other label.
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

Example = tuple[str, int]  # ("321-4", 1): the text, and 1 when its first number is the larger one, else 0


@dataclass(frozen=True)
class DifferenceData:
    """Examples to learn from, and others to be tested on; no text is in both."""

    train: list[Example]
    test: list[Example]


def draw_differences(
    seed: int,
    count: int,
    max_digits: int = 3,
    *,
    min_digits: int = 1,
    equal_lengths: bool = False,
    exclude: Collection[str] = (),
) -> list[Example]:
    """Draw `count` different examples, none of them in `exclude`.

    With `equal_lengths` both numbers of an example have the same number of digits: then the length of a number
    tells nothing.

    >>> draw_differences(seed=0, count=3)
    [('15-43', 0), ('514-48', 1), ('84-37', 1)]
    >>> draw_differences(seed=0, count=2, equal_lengths=True)
    [('15-43', 0), ('514-902', 0)]

    Raises:
        ValueError: when there are too few different examples of these lengths.
    """
    _check_room(count, min_digits, max_digits, equal_lengths)
    generator = random.Random(seed)
    taken = set(exclude)
    examples: list[Example] = []
    for _ in range(1000 * count + 1000):
        if len(examples) == count:
            return examples
        text, label = _draw_one(generator, min_digits, max_digits, equal_lengths)
        if label is not None and text not in taken:
            taken.add(text)
            examples.append((text, label))
    raise ValueError(f"fewer than {count} examples are left after {len(exclude)} were excluded")


def draw_with_repeats(seed: int, count: int, max_digits: int = 3, *, min_digits: int = 1) -> list[Example]:
    """As `draw_differences`, but carelessly: an example may come twice. To show what a careless split does."""
    generator = random.Random(seed)
    examples: list[Example] = []
    while len(examples) < count:
        text, label = _draw_one(generator, min_digits, max_digits, equal_lengths=False)
        if label is not None:
            examples.append((text, label))
    return examples


def difference_task(
    seed: int,
    train: int = 2000,
    test: int = 500,
    max_digits: int = 3,
    *,
    min_digits: int = 1,
    equal_lengths: bool = False,
) -> DifferenceData:
    """Training and test examples from one draw, so that no test text is in the training data.

    >>> data = difference_task(seed=0)
    >>> len(data.train), len(data.test), shared_texts(data.train, data.test)
    (2000, 500, 0)
    """
    drawn = draw_differences(seed, train + test, max_digits, min_digits=min_digits, equal_lengths=equal_lengths)
    # Short examples run out first and so come early: mix, or the test data would be longer than the training data.
    random.Random(seed).shuffle(drawn)
    return DifferenceData(drawn[:train], drawn[train:])


def operands(text: str) -> tuple[str, str]:
    """The two numbers of an example, as texts.

    >>> operands("321-4")
    ('321', '4')
    """
    first, _, second = text.partition("-")
    return first, second


def more_common_label(train: Sequence[Example]) -> int:
    """The label that most training examples have.

    >>> more_common_label([("2-1", 1), ("3-1", 1), ("1-2", 0)])
    1
    """
    return int(2 * sum(label for _, label in train) > len(train))


def baseline_accuracies(train: Sequence[Example], test: Sequence[Example]) -> dict[str, float]:
    """The share of test examples that each trivial rule gets right.

    A rule that can't decide, as with two operands of one length, says the more common label of the training data.

    >>> data = difference_task(seed=0)
    >>> {name: round(share, 2) for name, share in baseline_accuracies(data.train, data.test).items()}
    {'more common label': 0.5, 'larger first digit wins': 0.7, 'longer operand wins': 0.84}
    """
    common = more_common_label(train)
    rules: dict[str, Callable[[str, str], int]] = {
        "more common label": lambda first, second: 0,
        "larger first digit wins": lambda first, second: int(first[0]) - int(second[0]),
        "longer operand wins": lambda first, second: len(first) - len(second),
    }
    shares = {}
    for name, ahead in rules.items():
        right = 0
        for text, label in test:
            lead = ahead(*operands(text))
            right += label == (common if lead == 0 else int(lead > 0))
        shares[name] = right / len(test)
    return shares


def shared_texts(train: Sequence[Example], test: Sequence[Example]) -> int:
    """How many test examples are also in the training data. A clean split has none.

    >>> shared_texts([("2-1", 1)], [("2-1", 1), ("1-2", 0)])
    1
    """
    seen = {text for text, _ in train}
    return sum(text in seen for text, _ in test)


def _draw_one(
    generator: random.Random, min_digits: int, max_digits: int, equal_lengths: bool
) -> tuple[str, int | None]:
    """A text and its label; the label is None for two equal numbers, which are no example."""
    lengths = [generator.randint(min_digits, max_digits) for _ in range(2)]
    if equal_lengths:
        lengths[1] = lengths[0]
    first, second = (generator.randrange(_smallest(length), 10**length) for length in lengths)
    return f"{first}-{second}", None if first == second else int(first > second)


def _smallest(digits: int) -> int:
    """The smallest number with so many digits; 0 has one."""
    return 0 if digits == 1 else 10 ** (digits - 1)


def _check_room(count: int, min_digits: int, max_digits: int, equal_lengths: bool) -> None:
    if not 1 <= min_digits <= max_digits:
        raise ValueError("lengths run from min_digits to max_digits, and begin at 1")
    numbers = [10**digits - _smallest(digits) for digits in range(min_digits, max_digits + 1)]
    groups = numbers if equal_lengths else [sum(numbers)]
    room = sum(n * (n - 1) for n in groups)
    if 2 * count > room:
        raise ValueError(f"there are only {room} different examples of these lengths: {count} are too many")
