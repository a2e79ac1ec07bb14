"""The difference task: seeded, labelled rightly, split cleanly, with its shortcuts where the lesson says."""

import random
from collections import Counter

import pytest

from course.tasks.difference import (
    baseline_accuracies,
    difference_task,
    draw_differences,
    draw_with_repeats,
    operands,
    shared_texts,
)


@pytest.mark.parametrize("equal_lengths", [False, True])
@pytest.mark.parametrize("max_digits", [3, 12, 50])
def test_labels_lengths_and_no_doubles(max_digits: int, equal_lengths: bool) -> None:
    examples = draw_differences(1, 400, max_digits, min_digits=2, equal_lengths=equal_lengths)
    for text, label in examples:
        first, second = operands(text)
        assert label == int(int(first) > int(second))
        assert int(first) != int(second)
        assert all(2 <= len(number) <= max_digits and str(int(number)) == number for number in (first, second))
        assert not equal_lengths or len(first) == len(second)
    assert len({text for text, _ in examples}) == 400


def test_both_operands_run_through_all_lengths() -> None:
    seen = Counter(tuple(map(len, operands(text))) for text, _ in difference_task(0, max_digits=4).train)
    assert set(seen) == {(a, b) for a in range(1, 5) for b in range(1, 5)}


@pytest.mark.parametrize("seed", range(3))
def test_the_split_is_clean_and_alike(seed: int) -> None:
    data = difference_task(seed)
    assert shared_texts(data.train, data.test) == 0
    assert shared_texts(data.train, data.train[:7]) == 7
    lengths = [sum(len(text) for text, _ in part) / len(part) for part in (data.train, data.test)]
    assert abs(lengths[0] - lengths[1]) < 0.2


def test_the_shortcuts() -> None:
    mixed, equal = difference_task(5), difference_task(5, equal_lengths=True)
    rules, on_equal = (baseline_accuracies(data.train, data.test) for data in (mixed, equal))
    assert rules["longer operand wins"] > rules["larger first digit wins"] > rules["more common label"]
    assert on_equal["longer operand wins"] == on_equal["more common label"]
    assert on_equal["larger first digit wins"] > 0.9


def test_the_same_seed_draws_the_same_and_another_draws_others() -> None:
    assert draw_differences(3, 50) == draw_differences(3, 50) != draw_differences(4, 50)
    state = random.getstate()
    draw_with_repeats(0, 10)
    assert random.getstate() == state


def test_what_is_excluded_is_not_drawn_and_too_much_is_refused() -> None:
    first = draw_differences(0, 40, max_digits=1)
    second = draw_differences(0, 40, max_digits=1, exclude={text for text, _ in first})
    assert shared_texts(first, second) == 0
    with pytest.raises(ValueError, match="only 90"):
        draw_differences(0, 80, max_digits=1)
    with pytest.raises(ValueError, match="are left"):
        draw_differences(0, 40, max_digits=1, exclude={f"{a}-{b}" for a in range(10) for b in range(9)})
    with pytest.raises(ValueError, match="min_digits"):
        draw_differences(0, 1, max_digits=0)
