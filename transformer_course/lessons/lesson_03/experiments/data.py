"""Lesson 3's data: the difference task in tensors, and three test sets that take the shortcuts away."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from transformer_course.tasks.difference import (
    Example,
    baseline_accuracies,
    difference_task,
    draw_differences,
    operands,
)
from transformer_course.vocabulary import build_vocabulary, encode, pad_sequences, prepare_example

Batch = tuple[torch.Tensor, torch.Tensor]  # tokens (n, length) and labels (n,)

SYMBOLS = "0123456789-"
VOCABULARY = build_vocabulary([SYMBOLS])  # in this order, so that digit d has the id d + 1
CLS_ID = len(SYMBOLS) + 1
VOCAB_SIZE = CLS_ID + 1  # padding is id 0
MAX_LENGTH = 8  # three digits, a minus sign, three digits, CLS
SIZES = {"vocab_size": VOCAB_SIZE, "max_length": MAX_LENGTH, "d_model": 32, "num_heads": 4, "d_ff": 64}
SIZES |= {"num_layers": 2, "num_classes": 2}  # of the lesson's TransformerClassifier


@dataclass(frozen=True)
class Sets:
    """What to learn from, and three test sets, each harder than the one before; no test text is learnt from."""

    train: list[Example]
    tests: dict[str, list[Example]]


def prepared(examples: Sequence[Example], max_length: int = MAX_LENGTH) -> Batch:
    """Texts as tokens (n, max_length) with the CLS token last, and their labels (n,).

    >>> prepared([("21-4", 1)])
    (tensor([[ 3,  2, 11,  5,  0,  0,  0, 12]]), tensor([1]))
    """
    rows = [prepare_example(text, label, VOCABULARY, max_length, CLS_ID)[0] for text, label in examples]
    return torch.stack(rows), torch.tensor([label for _, label in examples])


def symbols_of(tokens: torch.Tensor) -> list[str]:
    """One row of tokens, readable: padding is a dot, and CLS is CLS.

    >>> symbols_of(prepared([("21-4", 1)])[0][0])
    ['2', '1', '-', '4', '·', '·', '·', 'CLS']
    """
    names = {0: "·", CLS_ID: "CLS"} | {place: symbol for symbol, place in VOCABULARY.items()}
    return [names[int(token)] for token in tokens]


def mirrored(examples: Sequence[Example]) -> list[Example]:
    """Each example with its mirror image: the two numbers change places, and the label changes with them.

    >>> mirrored([("21-4", 1)])
    [('21-4', 1), ('4-21', 0)]
    """
    pairs = []
    for text, label in examples:
        first, second = operands(text)
        pairs += [(text, label), (f"{second}-{first}", 1 - label)]
    return pairs


def draw_sets(seed: int, train: int = 20_000, test: int = 1000, *, equal_lengths: bool = False) -> Sets:
    """Training texts, and tests: "all" texts, those of "equal lengths", and those with the "same first digit" too.

    With `equal_lengths` the training texts, too, have two numbers of one length. The tests stay the same.
    """
    data = difference_task(seed, train, test)
    learnt = {text for text, _ in data.train}
    equal = draw_differences(seed + 1000, 15 * test, equal_lengths=True, exclude=learnt)
    alike = [(text, label) for text, label in equal if same_start(text)][:test]
    tests = {"all": data.test, "equal lengths": equal[:test], "same first digit": alike}
    if not equal_lengths:
        return Sets(data.train, tests)
    tested = {text for examples in tests.values() for text, _ in examples}
    return Sets(draw_differences(seed, train, equal_lengths=True, exclude=tested), tests)


def same_start(text: str) -> bool:
    """Do both numbers begin with the same digit?

    >>> same_start("31-37"), same_start("31-47")
    (True, False)
    """
    first, second = operands(text)
    return first[0] == second[0]


def baselines(sets: Sets) -> dict[str, dict[str, float]]:
    """{trivial rule: {test set: accuracy}}."""
    shares = {name: baseline_accuracies(sets.train, examples) for name, examples in sets.tests.items()}
    return {rule: {name: shares[name][rule] for name in shares} for rule in shares["all"]}


def padded_right(examples: Sequence[Example], length: int) -> Batch:
    """Texts as tokens (n, length), padded on the right and without a CLS token, and their labels (n,).

    >>> padded_right([("21-4", 1)], length=6)
    (tensor([[ 3,  2, 11,  5,  0,  0]]), tensor([1]))
    """
    rows = pad_sequences([encode(text, VOCABULARY) for text, _ in examples], length)
    return rows, torch.tensor([label for _, label in examples])
