"""Words are worked out where the case wants them, and nowhere else is a learner's code called for them."""

from __future__ import annotations

from typing import Any

import pytest

from cellcheck.authoring.spec import USUAL
from cellcheck.syllabus import find_lesson

from .marks import judge_of


@pytest.mark.parametrize(
    ("lesson", "symbol", "key"),
    [
        ("09", "Adam", "steps"),
        ("09", "cross_entropy", "slopes"),
        ("15", "attention_on", "all_of_it"),
        ("15", "recovered", "ends"),
    ],
)
def test_only_usual_cases_have_words(lesson: str, symbol: str, key: str) -> None:
    judge = judge_of(find_lesson(lesson)[1], symbol, 0, combinations=0)
    right, calls = judge.exercise.references[0], 0

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        return right(*arguments, **named)

    for case in judge.cases:
        calls = 0
        seen = judge.observe_one(counted, case)
        usual = case.tags >= USUAL
        assert (key in seen) == usual, case.label
        # One optimiser is tried beside another one, and a default learning rate beside one that is passed in.
        plain = 1 + ("beside" in case.inputs or not case.inputs.get("parameters", True))
        assert (calls > plain) == usual, case.label
