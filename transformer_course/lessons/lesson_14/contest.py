"""The capstone: whose adder, having seen sums of at most five digits, adds numbers of a hundred?"""

import random
from collections.abc import Mapping
from typing import Any

from cellcheck.authoring.contest import Allowance, Contest, Ids, Notation
from transformer_course.decoding import greedy_decode
from transformer_course.length_generalization.writing import FIRST_DIGIT, LAST_DIGIT, SumWriting
from transformer_course.tasks.addition import Pair, draw_pairs, draw_with_repeats, long_carries

LEARNT = 5  # digits of a number in training, at most


def hidden_sums(generator: random.Random, digits: int, count: int) -> list[Pair]:
    """Sums of two numbers with exactly so many digits. In a third of them, one carry goes on for three places or more.

    Random sums rarely have a long carry. Without these, an adder that drops them would hardly be noticed.
    """
    long = count // 3
    drawn = draw_pairs(generator.getrandbits(32), count - long, digits, min_digits=digits)
    return drawn + long_carries(generator.getrandbits(32), long, digits, exclude=drawn)


def practice_sums(generator: random.Random, count: int) -> list[Pair]:
    """Sums of numbers with at most five digits, as in the lesson: in half of them both numbers have all five.

    Where one number is much shorter than the other, little can be learnt from all the zeros in front of it.
    """
    full = draw_with_repeats(generator.getrandbits(32), count // 2, LEARNT, min_digits=LEARNT)
    drawn = full + draw_with_repeats(generator.getrandbits(32), count - len(full), LEARNT)
    generator.shuffle(drawn)
    return drawn


def notation(asked: Mapping[str, Any]) -> Notation:
    """The way of writing that an entry's FORMAT asks for.

    Raises:
        ValueError: when there is none like that.
    """
    try:
        writing = SumWriting(**asked)
    except (TypeError, ValueError):
        raise ValueError(
            "FORMAT may set least_first, operands_least_first and index_hints to True or False, and width to None or "
            f"'padded', and holds {', '.join(f'{name}={value!r}' for name, value in asked.items())[:100]}."
        ) from None
    alphabet = writing.alphabet

    def write(pair: Pair) -> tuple[Ids, Ids]:
        source, target = writing.texts(pair)
        return alphabet.encode(source), [*alphabet.encode(target), alphabet.end_id]

    digits = tuple(range(FIRST_DIGIT, LAST_DIGIT + 1))
    return Notation(write, alphabet.size, alphabet.start_id, alphabet.end_id, interchangeable=digits)


CONTEST = Contest(
    title="Long sums",
    hidden={5: 30, 6: 30, 7: 30, 8: 30, 10: 30, 20: 30, 50: 21, 100: 21},
    draw=hidden_sums,
    practise=practice_sums,
    notation=notation,
    decode=greedy_decode,
    allowance=Allowance(training_seconds=120.0, answering_seconds=120.0),
    size="digits",
    code="adder.py",
    learn="train",
    answers="sums",
)
