"""How many sums an adder gets right, writing one token after the other, by the length of the numbers."""

from collections.abc import Collection, Sequence

import torch

from transformer_course.decoding import greedy_decode
from transformer_course.length_generalization.adder import Adder
from transformer_course.tasks.addition import Pair, draw_pairs, long_carries

LENGTHS = (5, 6, 7, 8, 10, 20, 50, 100)


def write_answers(model: Adder, pairs: Sequence[Pair]) -> list[int | None]:
    """The number that the adder writes for each sum, and None where it writes no number.

    Each sum is read once; `greedy_decode` then asks for one token after the other.
    """
    source, target = model.writing.tensors(pairs)
    alphabet, mode = model.writing.alphabet, model.training
    model.eval()
    with torch.no_grad():
        read = model.encode(source)
        written = greedy_decode(
            lambda _, so_far: model.decode(so_far, read, only_last=True),
            source,
            alphabet.start_id,
            alphabet.end_id,
            target.shape[1],
        )
    model.train(mode)
    return [model.writing.number(row) for row in written]


def share_right(model: Adder, pairs: Sequence[Pair]) -> float:
    """The share of sums whose answer is right, digit for digit."""
    answers = write_answers(model, pairs)
    return sum(answer == sum(pair) for answer, pair in zip(answers, pairs, strict=True)) / len(pairs)


def right_by_length(
    model: Adder,
    learnt: Collection[Pair],
    *,
    lengths: Sequence[int] = LENGTHS,
    count: int = 100,
    carries: bool = False,
    seed: int = 0,
) -> dict[int, float]:
    """{digits: share of `count` new sums that are right}; both numbers of a sum have that many digits.

    With `carries`, one carry travels through three places or more in each sum.
    """
    shares = {}
    for digits in lengths:
        if carries:
            pairs = long_carries(seed + 1000, count, digits, exclude=learnt)
        else:
            pairs = draw_pairs(seed + 1000, count, digits, min_digits=digits, exclude=learnt)
        shares[digits] = share_right(model, pairs)
    return shares
