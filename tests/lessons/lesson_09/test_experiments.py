"""What the lesson's cells rely on: flaws that change the way back alone, and a board that counts fairly."""

import numpy as np

from transformer_course.lessons.lesson_09 import experiments as lab
from transformer_course.lessons.lesson_09.experiments import wrong_gradients as wrong
from transformer_course.numpy_transformer import tasks


def test_every_flaw_leaves_the_forward_pass_alone() -> None:
    tokens = tasks.as_arrays(tasks.questions(0).train[:50])[0]
    logits = {name: wrong.break_backward(lab.fresh_reader(), name).forward(tokens) for name in wrong.MODELS}
    assert all(np.array_equal(each, logits["right"]) for each in logits.values())


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
