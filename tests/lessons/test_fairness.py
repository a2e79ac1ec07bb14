"""Beyond the catalogues: odd but honest answers keep their points, nameless wrong ones lose some.

The answers to lesson NN stand in `lesson_NN/answers.py`, as `HONEST` and `WRONG`: for each symbol a list.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import pytest

from grader.authoring.spec import Observation
from grader.checking.judge import PASSED, Judge, Verdict
from grader.syllabus import lesson_names, load_lesson, load_probes
from tests.proofs import later

EITHER_SEED = pytest.mark.parametrize("seed", [3, pytest.param(4, marks=later)])
ANSWERS = {name: importlib.import_module(f"tests.lessons.lesson_{name[:2]}.answers") for name in lesson_names()}


@cache
def judge_of(lesson: str, symbol: str, seed: int) -> Judge:
    return Judge(load_lesson(lesson)[symbol], load_probes(lesson)[symbol], seed)


def verdict(lesson: str, symbol: str, seed: int, answer: Any) -> Verdict:
    judge = judge_of(lesson, symbol, seed)
    return judge.verdict(judge.observe(answer))


def cases_of(kind: str) -> list[Any]:
    return [
        pytest.param(lesson, symbol, answer, id=f"{symbol}-{i}-{getattr(answer, '__name__', '').strip('<>')}")
        for lesson, answers in ANSWERS.items()
        for symbol, listed in getattr(answers, kind).items()
        for i, answer in enumerate(listed)
    ]


@EITHER_SEED
@pytest.mark.parametrize(("lesson", "symbol", "answer"), cases_of("HONEST"))
def test_an_honest_answer_keeps_its_points(lesson: str, symbol: str, answer: Any, seed: int) -> None:
    got = verdict(lesson, symbol, seed, answer)
    assert (got.status, got.score) == (PASSED, got.max_score), got.message


every_wrong_answer = pytest.mark.parametrize(("lesson", "symbol", "answer"), cases_of("WRONG"))


@every_wrong_answer
def test_a_wrong_answer_goes_wrong_in_some_case(lesson: str, symbol: str, answer: Any) -> None:
    judge = judge_of(lesson, symbol, 3)
    seen: list[Observation] = []
    while judge.right_so_far(seen):
        assert len(seen) < len(judge.cases), "it is right in all of them"
        seen.append(judge._observe(answer, judge.cases[len(seen)]))


@later
@pytest.mark.parametrize("seed", [3, 4])
@every_wrong_answer
def test_a_wrong_answer_loses_points_and_is_told_why(lesson: str, symbol: str, answer: Any, seed: int) -> None:
    got = verdict(lesson, symbol, seed, answer)
    assert got.score < got.max_score
    assert got.message


@pytest.mark.parametrize("lesson", ANSWERS)
def test_there_are_some_of_each_kind(lesson: str) -> None:
    honest, wrong = ANSWERS[lesson].HONEST, ANSWERS[lesson].WRONG
    symbols = [exercise.symbol for exercise in load_lesson(lesson).exercises]
    assert sorted(wrong) == sorted(honest) == sorted(symbols)
    assert all(len(wrong[symbol]) >= 3 and len(honest[symbol]) >= 2 for symbol in symbols)
