"""The open exercises: no question is in two parts, answers are right, and a verdict says who got there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer_course.lessons.lesson_09.experiments import extensions
from transformer_course.lessons.lesson_09.experiments.extensions import Challenge, Part

SMALL = {
    "nested": extensions.nested(train=300),
    "sums": extensions.sums(train=300),
}
every_challenge = pytest.mark.parametrize("name", list(SMALL))


class Knows:
    """A model that has learnt some questions by heart, and says 0 to all others."""

    def __init__(self, challenge: Challenge, *parts: Part) -> None:
        self.vocab_size = challenge.vocab_size
        self.answers = {
            tuple(row): answer
            for part in parts
            for row, answer in zip(part.inputs[0].tolist(), part.targets, strict=True)
        }

    def forward(self, tokens: np.ndarray, read: np.ndarray | None = None) -> Any:
        answers = np.array([self.answers.get(tuple(row), 0) for row in tokens.tolist()], dtype=object)
        if read is not None:
            place = read.shape[1] - 1
            whole = [row if isinstance(row, np.ndarray) else np.zeros(5, dtype=int) for row in answers]
            answers = np.array([[row[place]] * read.shape[1] for row in whole])
        return np.eye(self.vocab_size)[answers.astype(int)]


@every_challenge
def test_no_question_is_in_two_parts(name: str) -> None:
    parts = SMALL[name].train, SMALL[name].validation, SMALL[name].test
    rows = [tuple(row) for part in parts for row in part.inputs[0].tolist()]
    assert len(rows) == len(set(rows))
    assert [len(part) for part in parts[1:]] == [500, 500]


@every_challenge
def test_the_test_questions_open_at_the_goal_and_not_before(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    task = SMALL[name]
    assert list(task.verdict(Knows(task, task.train))) == ["validation"]
    assert capsys.readouterr().out.startswith("Not yet: 0.0%")
    assert list(task.verdict(Knows(task, task.validation))) == ["validation", "test"]
    assert "not on questions that nobody chose by: 0.0%" in capsys.readouterr().out
    shares = task.verdict(Knows(task, task.validation, task.test))
    assert shares.eq(1.0).all(axis=None)
    assert capsys.readouterr().out.startswith("You got there: 100.0% of 500 test questions")


def test_answers_are_right() -> None:
    part = SMALL["sums"].train
    for row, target in zip(part.inputs[0].tolist(), part.targets.tolist(), strict=True):
        digits = [str(token - 1) for token in row]
        written = target[: target.index(11)]
        total = int("".join(str(token - 1) for token in reversed(written)))
        assert total == int("".join(digits[:3])) + int("".join(digits[4:]))


def test_whoever_reads_the_operation_alone_gets_little() -> None:
    assert SMALL["sums"].shortcut() < 0.02
    assert 0.05 < SMALL["nested"].shortcut() < 0.35
