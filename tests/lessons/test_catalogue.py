"""The tests of the tests: what holds for every exercise, whatever it asks. Its marks have a table: `test_marks.py`.

Everything here runs on whatever lessons there are; nothing is written per exercise.
"""

import inspect
import re
from copy import copy
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
import torch

from cellcheck.authoring.spec import Case, Exercise
from cellcheck.checking.compare import compare
from cellcheck.checking.judge import MISSING, Judge, Verdict
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from cellcheck.testing import SEEDS

NAMES = [(lesson, exercise.symbol) for lesson in lesson_names() for exercise in load_lesson(lesson).exercises]
every_exercise = pytest.mark.parametrize(
    ("lesson", "symbol"), NAMES, ids=[f"{lesson[:2]}-{symbol}" for lesson, symbol in NAMES]
)


def _judge(lesson: str, symbol: str, seed: int) -> Judge:
    """A judge who knows no mistakes: a name costs nobody points, and to find none takes long."""
    return Judge(replace(load_lesson(lesson)[symbol], mistakes=()), load_probes(lesson)[symbol], seed, combinations=0)


judge_of = cache(_judge)


@cache
def drawn_again(lesson: str, symbol: str) -> Judge:
    """Another judge with the cases of seed 0."""
    return _judge(lesson, symbol, 0)


def verdict(judge: Judge, implementation: Any) -> Verdict:
    return judge.verdict(judge.observe(implementation))


def _blank(*_: Any, **__: Any) -> Any:
    raise NotImplementedError


class _BlankModule(torch.nn.Module):
    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()
        raise NotImplementedError


@every_exercise
def test_a_blank_is_missing_and_earns_nothing(lesson: str, symbol: str) -> None:
    for blank in (_blank, _BlankModule):
        got = verdict(judge_of(lesson, symbol, 0), blank)
        assert (got.status, got.score, got.diagnosis) == (MISSING, 0.0, None)


def _raise(*_: Any, **__: Any) -> Any:
    raise SystemExit("enough")


CONSTANTS: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "zero": 0,
    "one": 1.0,
    "NaN": float("nan"),
    "empty list": [],
    "empty dict": {},
    "text": "passed",
    "tensor zero": torch.zeros(()),
    "tensor one": torch.ones(1),
    "matrix": torch.zeros(3, 3),
    "pairs": [(torch.zeros(3, 3), torch.zeros(3))] * 2,
    "floats": [0.0, 0.0, 0.0],
}


@every_exercise
def test_constants_and_echoes_earn_nothing(lesson: str, symbol: str) -> None:
    judge = judge_of(lesson, symbol, 0)
    idle: dict[str, Any] = {name: lambda *_, value=value: value for name, value in CONSTANTS.items()}
    idle["echo"] = lambda *arguments: arguments[0]
    idle["last echo"] = lambda *arguments: arguments[-1]
    idle["exit"] = _raise
    idle["no parameters"] = lambda: None
    idle["no function"] = 3
    scores = {name: verdict(judge, implementation).score for name, implementation in idle.items()}
    assert {name: score for name, score in scores.items() if score} == {}


@every_exercise
def test_what_is_seen_of_a_reference_is_the_same_twice(lesson: str, symbol: str) -> None:
    one, two = judge_of(lesson, symbol, 0), drawn_again(lesson, symbol)
    for a, b in zip(one.references, two.references, strict=True):
        assert all(not compare(x, y) for x, y in zip(a, b, strict=True))
    assert [case.label for case in one.cases] == [case.label for case in two.cases]


@every_exercise
def test_cases_and_names_tell_things_apart(lesson: str, symbol: str) -> None:
    exercise = load_lesson(lesson)[symbol]
    cases = judge_of(lesson, symbol, 0).cases
    for names in (
        [case.label for case in cases],
        [mistake.name for mistake in exercise.mistakes],
        [mistake.advice for mistake in exercise.mistakes],
        [aspect.name for aspect in exercise.aspects],
    ):
        assert len(names) == len(set(names))
    assert all(mistake.name.isidentifier() and mistake.name.islower() for mistake in exercise.mistakes)
    assert len(exercise.mistakes) >= 3
    assert len(exercise.variants) >= 3
    assert exercise.points == int(exercise.points) > 0
    assert any(aspect.core for aspect in exercise.aspects)
    for aspect in exercise.aspects:
        assert any(aspect.tags <= case.tags for case in cases), f"no case is about {aspect.name}"


@every_exercise
def test_each_aspect_is_explained_in_one_short_sentence(lesson: str, symbol: str) -> None:
    for aspect in load_lesson(lesson)[symbol].aspects:
        if not aspect.counts and not aspect.meaning:
            continue  # nobody reads its name
        assert aspect.meaning, f"{aspect.name} has no meaning"
        assert aspect.meaning.endswith("."), aspect.meaning
        assert len(aspect.meaning) <= 160, aspect.meaning


def _drawn(case: Case) -> dict[str, object]:
    """The inputs, and what a case's patient is made of."""
    return dict(case.inputs) | ({"patient": case.patient.args} if isinstance(case.patient, partial) else {})


@every_exercise
def test_seeds_draw_different_cases(lesson: str, symbol: str) -> None:
    drawn = [[_drawn(case) for case in judge_of(lesson, symbol, seed).cases] for seed in SEEDS[:2]]
    assert any(compare(a, b) for a, b in zip(*drawn, strict=True))


@every_exercise
def test_everything_that_is_seen_counts(lesson: str, symbol: str) -> None:
    """Full marks are lost when one case stops with an error, or one thing seen in one case is wrong.

    A text beside the result says what else is to be said of it, and need not do so in each case. What a patient notes
    of the questions, and what an aspect that only speaks looks at, is no answer.
    """
    judge = judge_of(lesson, symbol, 0)
    aspects = judge.exercise.aspects
    counting = [aspect for aspect in aspects if aspect.counts]
    idle = {key for aspect in aspects for key in aspect.keys}.difference(*(aspect.keys for aspect in counting))
    noted = [set(case.patient().noted()) if case.patient else set() for case in judge.cases]
    right = judge.observe(judge.exercise.references[0])
    assert judge.right_so_far(right)
    texts: dict[str, bool] = {}
    for i, case in enumerate(judge.cases):
        if any(aspect.tags and aspect.tags <= case.tags for aspect in aspects if not aspect.counts):
            continue  # a case for words alone
        wrong = [copy(seen) for seen in right]
        wrong[i] = {"error": {"type": "ValueError", "message": "", "line": ""}}
        allowed = any("error" in reference[i] for reference in judge.references)
        assert allowed or not judge.right_so_far(wrong), case.label
        if "error" in right[i]:  # where an error is asked for, going on is wrong whatever comes out
            wrong[i] = {"output": None}
            assert not judge.right_so_far(wrong), case.label
            continue
        for key in judge.references[0][i].keys() - noted[i] - idle:
            value = judge.references[0][i][key]
            wrong = [copy(seen) for seen in right]
            wrong[i][key] = "something else"
            counts = key not in right[i] or not judge.right_so_far(wrong)
            if key != "output" and isinstance(value, str):
                texts[key] = texts.get(key, False) or counts
            else:
                assert counts, (case.label, key)
    assert [key for key, counts in texts.items() if not counts] == []


def _solution_lines(reference: Any) -> list[str]:
    """The lines of code that a learner is to find, without blanks."""
    parts = inspect.getsource(reference).split("### BEGIN SOLUTION")[1:]
    lines = [line for part in parts for line in part.split("### END SOLUTION")[0].splitlines()]
    code = ["".join(line.split("#")[0].strip().removeprefix("return ").split()) for line in lines]
    return [line for line in code if len(line) > 6 and set("([=") & set(line)]


@every_exercise
def test_advice_asks_and_never_tells(lesson: str, symbol: str) -> None:
    exercise: Exercise = load_lesson(lesson)[symbol]
    lines = _solution_lines(exercise.references[0])
    assert lines, "the first reference is the symbol in course"
    for mistake in exercise.mistakes:
        assert mistake.advice.endswith("?"), mistake.name
        assert "!" not in mistake.advice
        assert len(mistake.advice) < 260, mistake.name
        # It may stand beside the advice on a second mistake, where "the right one plus x" isn't true.
        assert not re.match(r"(?:The|Your)\b[^.?]* (?:is|are) the right ones?\b", mistake.advice), mistake.name
        squeezed = "".join(mistake.advice.split())
        for line in lines:
            assert line not in squeezed, mistake.name
        assert not {"simply", "obviously", "just", "wrong!"} & set(mistake.advice.lower().split()), mistake.name
