"""What the lesson's cells rely on: flaws that change the way back alone, and a board that counts fairly."""

import numpy as np

from transformer_course.lessons.lesson_09 import experiments as lab
from transformer_course.lessons.lesson_09.experiments import wrong_gradients as wrong
from transformer_course.numpy_transformer import tasks


def test_every_flaw_leaves_the_forward_pass_alone() -> None:
    tokens = tasks.as_arrays(tasks.questions(0).train[:50])[0]
    logits = {name: wrong.break_backward(lab.fresh_reader(), name).forward(tokens) for name in wrong.MODELS}
    assert all(np.array_equal(each, logits["right"]) for each in logits.values())


def test_the_largest_difference_may_be_in_any_array() -> None:
    ones = np.ones((2, 3))
    assert lab.apart([ones, ones], [ones, ones]) == 0
    assert lab.apart([ones, ones], [ones, ones - 0.25 * np.eye(2, 3)]) == 0.25


def test_charts_say_what_was_measured() -> None:
    assert lab.by_exponent({"float64": [0.1, 0.001]}, [-1, -2]).text.startswith("How well a slope is measured")
    assert lab.by_epoch({"validation": [0.1, 0.9]}, "A title").text.startswith("A title (questions right by epochs)")
    weights = {name: np.full((4, 4), 0.25) for name in tasks.NAMES}
    assert all(name in lab.where_heads_look(weights).text for name in tasks.NAMES)


def test_the_board_counts_what_is_close_and_nothing_that_nobody_guessed() -> None:
    rows = lab.board(
        [
            ("close", 0.42, 0.4, 0.05),
            ("far", 0.6, 0.4, 0.05),
            ("no guess", None, None, None),
            ("nothing measured", ["small"], None, None),
            ("in another order", ["b", "a"], ["a", "b"], None),
            ("a word for a number", "few", 3, 1),
            ("the word", "spread", "spread", None),
        ]
    )
    assert rows["right?"].tolist() == ["yes", "", "", "", "yes", "", "yes"]
