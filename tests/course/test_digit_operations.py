"""The digit operations: every input once, a clean split, and answers that depend on what they should."""

import pytest

from course.tasks.digit_operations import (
    LENGTH,
    OPERATIONS,
    VOCAB_SIZE,
    answer,
    baseline_accuracies,
    digit_operations,
    tensors,
)


@pytest.mark.parametrize("seed", [0, 1])
def test_all_inputs_are_there_once_and_in_one_half(seed: int) -> None:
    data = digit_operations(seed)
    assert len(data.train) == 4000
    assert len({*data.train, *data.test}) == 5000


def test_the_split_depends_on_the_seed_alone() -> None:
    assert digit_operations(3) == digit_operations(3)
    assert digit_operations(3) != digit_operations(4)


def test_answers() -> None:
    wanted = {"first": 4, "second": 7, "last": 9, "max": 9, "min": 4}
    assert {name: answer((name, (4, 7, 9))) for name in OPERATIONS} == wanted
    assert answer(("max", (9, 4, 7))) == 9


def test_tokens_have_room_for_every_symbol_and_no_padding() -> None:
    data = digit_operations(0)
    tokens, labels = tensors(data.train)
    assert tokens.shape == (4000, LENGTH)
    assert tokens.min() == 1
    assert tokens.max() == VOCAB_SIZE - 1
    assert set(labels.tolist()) == set(range(10))


def test_a_blind_pick_is_right_a_bit_more_often_than_in_a_third() -> None:
    data = digit_operations(0)
    shares = baseline_accuracies(data.train, data.test)["any of the three"]
    assert all(0.35 < share < 0.45 for share in shares.values())
