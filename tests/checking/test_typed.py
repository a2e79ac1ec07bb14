"""What a visitor types into a page is run, checked, and answered whatever it is."""

from __future__ import annotations

import inspect

import pytest

from cellcheck.checking.check import Checker
from cellcheck.checking.typed import check_typed, surroundings
from cellcheck.syllabus import load_lesson

LESSON = "09_numpy_transformer"


def test_right_and_wrong_answers_get_their_cards() -> None:
    exercise = load_lesson(LESSON)["softmax"]
    right = check_typed(LESSON, "softmax", inspect.getsource(exercise.references[0]))
    assert (right["right"], right["points"], right["diagnosis"]) == (True, exercise.points, None)
    slip = check_typed(LESSON, "softmax", "def softmax(x, axis=-1):\n    return np.exp(x) / np.exp(x).sum()")
    assert (slip["right"], slip["diagnosis"]) == (False, "whole_array_adds_up_to_one")
    assert "All your numbers together add up to 1" in slip["html"]
    assert "All your numbers together add up to 1" in slip["plain"]


def test_earlier_answers_are_there_and_later_ones_are_not() -> None:
    checker = Checker(LESSON)
    around = surroundings(checker, "cross_entropy")
    assert {"np", "softmax"} <= around.keys()
    assert "cross_entropy" not in around
    assert not {"softmax", "softmax_backward", "cross_entropy"} & surroundings(checker, "softmax").keys()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "doesn't define softmax"),
        ("def softmax(x", "can't read this (line 1)"),
        ("\n\nimport no_such_thing", "stops in line 3 with ModuleNotFoundError"),
        ("raise SystemExit(3)", "stops in line 1 with SystemExit"),
        ("softmax = 3", "softmax"),
        ("<script>alert(1)</script>", "can't read this"),
        ("raise ValueError('<script>')", "ValueError"),
    ],
)
def test_whatever_is_typed_is_answered(text: str, told: str) -> None:
    reply = check_typed(LESSON, "softmax", text)
    assert not reply["right"]
    assert told in reply["plain"]
    assert "<script" not in reply["html"]
