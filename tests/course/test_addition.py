"""Addition: seeded, written as the lesson says, split cleanly, and with carries that a shortcut misses."""

import random
from itertools import product

import pytest
import torch

from course.tasks.addition import (
    ALPHABET,
    END_ID,
    PAD_ID,
    PLUS_ID,
    START_ID,
    VOCAB_SIZE,
    Writing,
    addition_task,
    baseline_exact,
    draw_pairs,
    draw_with_repeats,
    long_carries,
    shared_pairs,
)


def test_the_ids_are_all_different_and_padding_is_0() -> None:
    ids = [PAD_ID, *ALPHABET.encode("0123456789"), PLUS_ID, START_ID, END_ID]
    assert ids == list(range(VOCAB_SIZE))


@pytest.mark.parametrize(("least_first", "backwards", "width"), list(product([True, False], [True, False], [None, 6])))
def test_every_way_of_writing_can_be_read_back(least_first: bool, backwards: bool, width: int | None) -> None:
    writing = Writing(least_first, backwards, width)
    pairs = [(0, 0), (7, 5), (999_999, 1), *draw_pairs(3, 50, 6)]
    source, target = writing.tensors(pairs)
    assert source.dtype == target.dtype == torch.int64
    assert [writing.number(row) for row in target] == [sum(pair) for pair in pairs]
    for pair, row in zip(pairs, source, strict=True):
        numbers = ALPHABET.answer(row).split("+")
        assert [int(number[::-1] if backwards else number) for number in numbers] == list(pair)
    if width is not None:
        assert source.shape == (53, 13)
        assert target.shape == (53, 8)
        assert PAD_ID not in source
        assert PAD_ID not in target


def test_padding_stands_on_the_right_up_to_a_length_that_is_given() -> None:
    source, target = Writing().tensors([(12, 345), (1, 2)], source_length=8, target_length=6)
    assert [ALPHABET.text(row) for row in source] == ["12+345__", "1+2_____"]
    assert [ALPHABET.text(row) for row in target] == ["753.__", "3.____"]


@pytest.mark.parametrize("text", ["", "+12.", "12^.", "^"])
def test_what_is_no_number_says_so(text: str) -> None:
    marks = "_0123456789+^."
    assert Writing().number([marks.index(mark) for mark in text]) is None


def test_both_numbers_run_through_all_lengths_and_keep_to_them() -> None:
    lengths = {(len(str(a)), len(str(b))) for a, b in draw_pairs(0, 400, 4, min_digits=2)}
    assert lengths == set(product(range(2, 5), repeat=2))


@pytest.mark.parametrize("seed", range(3))
def test_the_split_is_clean_and_alike(seed: int) -> None:
    data = addition_task(seed)
    assert shared_pairs(data.train, data.test) == 0
    assert shared_pairs(data.train, data.train[:7]) == 7
    lengths = [sum(len(str(sum(pair))) for pair in part) / len(part) for part in (data.train, data.test)]
    assert abs(lengths[0] - lengths[1]) < 0.2
    careless = draw_with_repeats(seed, 4500)
    assert shared_pairs(careless[:4000], careless[4000:]) > 30


@pytest.mark.parametrize(("seed", "digits"), [(0, 4), (1, 5), (2, 20)])
def test_long_carries_are_long_and_both_numbers_are_full(seed: int, digits: int) -> None:
    pairs = long_carries(seed, 300, digits)
    assert len(set(pairs)) == 300
    for pair in pairs:
        assert [len(str(number)) for number in pair] == [digits, digits]
        columns = [(int(a), int(b)) for a, b in zip(*(str(number)[::-1] for number in pair), strict=True)]
        travelled, longest, carry = 0, 0, 0
        for a, b in columns:
            travelled = travelled + 1 if carry and a + b == 9 else 0
            longest = max(longest, travelled)
            carry = int(a + b + carry >= 10)
        assert longest >= 3
    assert baseline_exact(pairs) == {"no carries": 0.0, "carry from the neighbour only": 0.0}


def test_the_shortcut_looks_good_on_random_sums() -> None:
    shares = baseline_exact(draw_pairs(0, 2000, 5, min_digits=5))
    assert 0.7 < shares["carry from the neighbour only"] < 0.9
    assert shares["no carries"] < 0.1


def test_the_same_seed_draws_the_same_and_nobody_is_disturbed() -> None:
    state = random.getstate()
    assert draw_pairs(3, 50) == draw_pairs(3, 50) != draw_pairs(4, 50)
    assert long_carries(3, 20, 5) == long_carries(3, 20, 5) != long_carries(4, 20, 5)
    assert random.getstate() == state


def test_what_is_excluded_is_not_drawn_and_too_much_is_refused() -> None:
    first = draw_pairs(0, 60, 1)
    assert shared_pairs(first, draw_pairs(0, 40, 1, exclude=first)) == 0
    for pairs in (first, long_carries(0, 9, 4)):
        assert shared_pairs(pairs, long_carries(0, 9, 4, exclude=pairs)) == 0
    with pytest.raises(ValueError, match="fewer than 101"):
        draw_pairs(0, 101, 1)
    with pytest.raises(ValueError, match="more than 5 digits"):
        long_carries(0, 1, 5, shortest=5)
    with pytest.raises(ValueError, match="min_digits"):
        draw_pairs(0, 1, 2, min_digits=3)
