"""The tasks that are drawn: seeded, written as the lessons say, split cleanly, with shortcuts where the lessons say."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch

from transformer_course.tasks import addition, curve, difference, digit_operations, reversal

# --- what holds for each of them

DRAWS: dict[str, Callable[[int], Any]] = {
    "pairs": lambda seed: addition.draw_pairs(seed, 50),
    "long carries": lambda seed: addition.long_carries(seed, 20, 5),
    "differences": lambda seed: difference.draw_differences(seed, 50),
    "differences with repeats": lambda seed: difference.draw_with_repeats(seed, 50),
    "rows": lambda seed: reversal.draw_rows(seed, 50, 8),
    "digit operations": digit_operations.digit_operations,
    "a curve": lambda seed: curve.noisy_curve(seed).train_targets.tolist(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_seed_draws_the_same_another_draws_others_and_nobody_is_disturbed(name: str) -> None:
    before = random.getstate(), torch.get_rng_state().tolist()
    draw = DRAWS[name]
    assert draw(3) == draw(3) != draw(4)
    assert (random.getstate(), torch.get_rng_state().tolist()) == before


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("task", "shared", "careless"),
    [
        (addition.addition_task, addition.shared_pairs, addition.draw_with_repeats),
        (difference.difference_task, difference.shared_texts, difference.draw_with_repeats),
        (reversal.reversal_task, reversal.shared_rows, reversal.draw_with_repeats),
    ],
    ids=["addition", "difference", "reversal"],
)
def test_a_split_is_clean_and_alike_and_an_overlap_would_be_counted(
    task: Any, shared: Any, careless: Any, seed: int
) -> None:
    data, drawn = task(seed), careless(seed, 4500)
    assert shared(data.train, data.test) == 0
    assert shared(data.train, data.train[:7]) == 7
    assert shared(drawn[:4000], drawn[4000:]) > 30
    lengths = [sum(len(str(example)) for example in part) / len(part) for part in (data.train, data.test)]
    assert abs(lengths[0] - lengths[1]) < 0.4


@pytest.mark.parametrize("task", [addition, reversal], ids=["addition", "reversal"])
def test_the_ids_are_all_different_and_padding_is_0(task: Any) -> None:
    inside = "0123456789+" if task is addition else "abcdefghij"
    assert [task.PAD_ID, *task.ALPHABET.encode(inside), task.START_ID, task.END_ID] == list(range(task.VOCAB_SIZE))


def test_what_is_excluded_is_not_drawn() -> None:
    pairs, rows = addition.draw_pairs(0, 60, 1), reversal.draw_rows(0, 60, 2)
    texts = {text for text, _ in difference.draw_differences(0, 40, max_digits=1)}
    assert addition.shared_pairs(pairs, addition.draw_pairs(0, 40, 1, exclude=pairs)) == 0
    for known in (pairs, addition.long_carries(0, 9, 4)):
        assert addition.shared_pairs(known, addition.long_carries(0, 9, 4, exclude=known)) == 0
    assert reversal.shared_rows(rows, reversal.draw_rows(0, 40, 2, exclude=rows)) == 0
    assert not texts & {text for text, _ in difference.draw_differences(0, 40, max_digits=1, exclude=texts)}


MOST_DIFFERENCES = {f"{a}-{b}" for a in range(10) for b in range(9)}
TOO_MUCH: dict[str, Callable[[], object]] = {
    "fewer than 101": lambda: addition.draw_pairs(0, 101, 1),
    "min_digits": lambda: addition.draw_pairs(0, 1, 2, min_digits=3),
    "more than 5 digits": lambda: addition.long_carries(0, 1, 5, shortest=5),
    "only 90": lambda: difference.draw_differences(0, 80, max_digits=1),
    "are left": lambda: difference.draw_differences(0, 40, max_digits=1, exclude=MOST_DIFFERENCES),
    "min_digits ": lambda: difference.draw_differences(0, 1, max_digits=0),
    "fewer than 11": lambda: reversal.draw_rows(0, 11, 1),
    "min_length": lambda: reversal.draw_rows(0, 1, 0),
}


@pytest.mark.parametrize("why", TOO_MUCH)
def test_too_much_is_refused(why: str) -> None:
    with pytest.raises(ValueError, match=why.strip()):
        TOO_MUCH[why]()


# --- addition


@pytest.mark.parametrize(("least_first", "backwards", "width"), list(product([True, False], [True, False], [None, 6])))
def test_every_way_of_writing_can_be_read_back(least_first: bool, backwards: bool, width: int | None) -> None:
    writing = addition.Writing(least_first, backwards, width)
    pairs = [(0, 0), (7, 5), (999_999, 1), *addition.draw_pairs(3, 50, 6)]
    source, target = writing.tensors(pairs)
    assert source.dtype == target.dtype == torch.int64
    assert [writing.number(row) for row in target] == [sum(pair) for pair in pairs]
    for pair, row in zip(pairs, source, strict=True):
        numbers = addition.ALPHABET.answer(row).split("+")
        assert [int(number[::-1] if backwards else number) for number in numbers] == list(pair)
    if width is not None:
        assert (source.shape, target.shape) == ((53, 13), (53, 8))
        assert addition.PAD_ID not in torch.cat([source, target], dim=1)


def test_padding_stands_on_the_right_up_to_a_length_that_is_given() -> None:
    source, target = addition.Writing().tensors([(12, 345), (1, 2)], source_length=8, target_length=6)
    assert [addition.ALPHABET.text(row) for row in source] == ["12+345__", "1+2_____"]
    assert [addition.ALPHABET.text(row) for row in target] == ["753.__", "3.____"]


@pytest.mark.parametrize("text", ["", "+12.", "12^.", "^"])
def test_what_is_no_number_says_so(text: str) -> None:
    marks = "_0123456789+^."
    assert addition.Writing().number([marks.index(mark) for mark in text]) is None


@pytest.mark.parametrize(("seed", "digits"), [(0, 4), (1, 5), (2, 20)])
def test_long_carries_are_long_and_both_numbers_are_full(seed: int, digits: int) -> None:
    pairs = addition.long_carries(seed, 300, digits)
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
    assert addition.baseline_exact(pairs) == {"no carries": 0.0, "carry from the neighbour only": 0.0}


# --- numbers and rows of all lengths


def test_all_lengths_come_and_no_other() -> None:
    pairs = addition.draw_pairs(0, 400, 4, min_digits=2)
    assert {(len(str(a)), len(str(b))) for a, b in pairs} == set(product(range(2, 5), repeat=2))
    seen = Counter(
        tuple(map(len, difference.operands(text))) for text, _ in difference.difference_task(0, max_digits=4).train
    )
    assert set(seen) == set(product(range(1, 5), repeat=2))
    assert {len(row) for row in reversal.reversal_task(0).train} == set(range(1, 11))


@pytest.mark.parametrize("equal_lengths", [False, True])
@pytest.mark.parametrize("max_digits", [3, 12, 50])
def test_differences_are_labelled_rightly_and_never_doubled(max_digits: int, equal_lengths: bool) -> None:
    examples = difference.draw_differences(1, 400, max_digits, min_digits=2, equal_lengths=equal_lengths)
    for text, label in examples:
        first, second = difference.operands(text)
        assert label == int(int(first) > int(second))
        assert int(first) != int(second)
        assert all(2 <= len(number) <= max_digits and str(int(number)) == number for number in (first, second))
        assert not equal_lengths or len(first) == len(second)
    assert len({text for text, _ in examples}) == 400


def test_the_target_is_the_source_backwards_with_an_end() -> None:
    rows = reversal.draw_rows(1, 100, 7, min_length=2)
    source, target = reversal.tensors(rows, 9, 8)
    assert (source.shape, target.shape) == ((100, 9), (100, 8))
    for row, sent, wanted in zip(rows, source, target, strict=True):
        assert 2 <= len(row) <= 7
        assert reversal.ALPHABET.text(sent) == row.ljust(9, "_")
        assert reversal.ALPHABET.text(wanted) == (row[::-1] + ".").ljust(8, "_")


# --- digit operations


def test_all_digit_operations_are_there_once_and_in_one_half() -> None:
    data = digit_operations.digit_operations(1)
    assert len(data.train) == 4000
    assert len({*data.train, *data.test}) == 5000
    tokens, labels = digit_operations.tensors(data.train)
    assert tokens.shape == (4000, digit_operations.LENGTH)
    assert (tokens.min(), tokens.max()) == (1, digit_operations.VOCAB_SIZE - 1)
    assert set(labels.tolist()) == set(range(10))
    shares = digit_operations.baseline_accuracies(data.train, data.test)["any of the three"]
    assert all(0.35 < share < 0.45 for share in shares.values())  # two of the three digits may be the same


def test_answers_depend_on_what_they_should() -> None:
    wanted = {"first": 4, "second": 7, "last": 9, "max": 9, "min": 4}
    answer = digit_operations.answer
    assert {name: answer((name, (4, 7, 9))) for name in digit_operations.OPERATIONS} == wanted
    assert answer(("max", (9, 4, 7))) == 9


# --- a curve


@pytest.mark.parametrize("seed", range(5))
def test_the_points_of_a_curve_are_in_range_and_the_baselines_in_order(seed: int) -> None:
    data = curve.noisy_curve(seed, test_points=24)
    losses = curve.baseline_losses(curve.noisy_curve(seed))
    assert losses["true curve"] < losses["straight line"] < losses["mean"]
    for tensor in (data.train_inputs, data.test_inputs):
        assert tensor.dtype == torch.float32
        assert curve.LOW <= tensor.min() < tensor.max() <= curve.HIGH
    assert curve.shared_inputs(data) == 0
    data.test_inputs[:3] = data.train_inputs[:3]
    assert curve.shared_inputs(data) == 3
