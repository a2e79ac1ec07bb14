"""Reversal: seeded, written backwards, split cleanly."""

import pytest

from course.tasks.reversal import (
    ALPHABET,
    END_ID,
    PAD_ID,
    START_ID,
    VOCAB_SIZE,
    draw_rows,
    draw_with_repeats,
    reversal_task,
    shared_rows,
    tensors,
)


def test_the_ids_are_all_different_and_padding_is_0() -> None:
    assert [PAD_ID, *ALPHABET.encode("abcdefghij"), START_ID, END_ID] == list(range(VOCAB_SIZE))


def test_the_target_is_the_source_backwards_with_an_end() -> None:
    rows = draw_rows(1, 100, 7, min_length=2)
    source, target = tensors(rows, 9, 8)
    assert source.shape == (100, 9)
    assert target.shape == (100, 8)
    for row, sent, wanted in zip(rows, source, target, strict=True):
        assert 2 <= len(row) <= 7
        assert ALPHABET.text(sent) == row.ljust(9, "_")
        assert ALPHABET.text(wanted) == (row[::-1] + ".").ljust(8, "_")


@pytest.mark.parametrize("seed", range(3))
def test_the_split_is_clean_and_alike(seed: int) -> None:
    data = reversal_task(seed)
    assert shared_rows(data.train, data.test) == 0
    assert shared_rows(data.train, data.train[:7]) == 7
    assert {len(row) for row in data.train} == set(range(1, 11))
    careless = draw_with_repeats(seed, 4500)
    assert shared_rows(careless[:4000], careless[4000:]) > 50


def test_what_is_excluded_is_not_drawn_and_too_much_is_refused() -> None:
    first = draw_rows(0, 60, 2)
    assert shared_rows(first, draw_rows(0, 40, 2, exclude=first)) == 0
    with pytest.raises(ValueError, match="fewer than 11"):
        draw_rows(0, 11, 1)
    with pytest.raises(ValueError, match="min_length"):
        draw_rows(0, 1, 0)
