"""The marks are those of the tables in `tests/marks/`, and those tables say what they should.

What the tables say is read whole each time. Whether it is so is tried for a sample; `make lesson` tries it all for a
lesson, and `make claims` for all lessons.
"""

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from cellcheck.authoring.spec import Exercise, Lesson, Observation
from cellcheck.checking.cards import card, standing
from cellcheck.checking.compare import compare
from cellcheck.checking.judge import ERROR, FAILED, PARTIAL, PASSED, Judge, Verdict
from cellcheck.syllabus import lesson_names, load_lesson
from cellcheck.testing import MOST_FOR_A_CENTRAL_MISTAKE, SEEDS
from tests.lessons import marks
from tests.lessons.marks import (
    RIGHT,
    Answer,
    Mark,
    answers,
    differences,
    exercises,
    judge_of,
    marks_now,
    recorded,
    seen_of,
)
from tests.nightly import drawn, later

every_lesson = pytest.mark.parametrize("lesson", lesson_names())
ROUNDING = 0.005  # marks have two digits behind the point


def insist_on_none(lines: Sequence[str], lesson: str) -> None:
    if lines:
        last = f"If that is meant, write the table anew and commit it: make marks LESSON={lesson[:2]}"
        pytest.fail("\n".join([f"The marks of {lesson} have changed.", *lines, last]), pytrace=False)


def table_of(lesson: str, symbol: str) -> marks.Marks:
    return {answer: by_seed for answer, by_seed in recorded(lesson).items() if answer.symbol == symbol}


# --- what the tables say


@every_lesson
def test_the_table_has_a_line_for_every_answer(lesson: str) -> None:
    table, there = recorded(lesson), {answer for pair in exercises(lesson) for answer in answers(*pair)}
    mark = {0: Mark(0)}
    lines = differences(dict.fromkeys(table, mark), dict.fromkeys(there, mark))
    insist_on_none(lines, lesson)


@every_lesson
def test_it_says_what_marks_should_be(lesson: str) -> None:
    """Right answers lose nothing. Mistakes have their own names, and cost the same with every seed."""
    exercises = load_lesson(lesson)
    for answer, by_seed in recorded(lesson).items():
        points, given = exercises[answer.symbol].points, set(by_seed.values())
        if answer.kind in RIGHT:
            assert given == {Mark(points)}, answer
        elif answer.kind == "mistake":
            (mark,) = given
            assert mark.diagnosis == answer.name
            assert mark.points < points, answer
        else:
            assert all(mark.points < points for mark in given), answer


@every_lesson
def test_marks_follow_what_there_was_to_learn(lesson: str) -> None:
    """Each exercise names the mistakes that miss its aim, and each of them costs half of the points or more."""
    table = recorded(lesson)
    for exercise in load_lesson(lesson).exercises:
        central = [mistake.name for mistake in exercise.mistakes if mistake.central]
        assert central, f"{exercise.symbol}: no mistake is marked as central"
        most = exercise.points * MOST_FOR_A_CENTRAL_MISTAKE + ROUNDING
        for name in central:
            assert table[Answer(exercise.symbol, "mistake", name)][SEEDS[0]].points <= most, (exercise.symbol, name)


@every_lesson
def test_answers_of_each_kind_are_held_out(lesson: str) -> None:
    kinds = [(answer.symbol, answer.kind) for answer in recorded(lesson)]
    for _, symbol in exercises(lesson):
        assert kinds.count((symbol, "wrong")) >= 3, symbol
        assert kinds.count((symbol, "honest")) >= 2, symbol


# --- whether it is so

LONG = {f"08-{symbol}" for symbol in ("Decoder", "DecoderLayer", "EncoderLayer", "Transformer")}
LONG |= {"07-best_of_n", "09-Transformer", "11-DecoderOnlyTransformer", "14-moved_by"}
"""Exercises whose answers take five to twenty processor seconds with each seed: these are for the night."""


def _case(lesson: str, symbol: str, seed: int) -> object:
    name = f"{lesson[:2]}-{symbol}"
    return pytest.param(lesson, symbol, seed, id=f"{name}-{seed}", marks=later if name in LONG else ())


every_exercise_on_every_seed = pytest.mark.parametrize(
    ("lesson", "symbol", "seed"),
    [_case(*pair, seed) for name in lesson_names() for pair in exercises(name) for seed in SEEDS],
)
a_sample = drawn(20)


@cache
def observed(lesson: str, symbol: str, seed: int) -> tuple[Judge, dict[Answer, list[Observation]]]:
    judge = judge_of(lesson, symbol, seed)
    return judge, {answer: seen_of(one, judge) for answer, one in answers(lesson, symbol).items()}


@cache
def graded(lesson: str, symbol: str, seed: int) -> dict[Answer, Verdict]:
    judge, seen = observed(lesson, symbol, seed)
    return {answer: judge.verdict(observations) for answer, observations in seen.items()}


def changes(lesson: str, symbol: str, seed: int) -> list[str]:
    """What the table says otherwise."""
    now = {answer: {seed: Mark.of(verdict)} for answer, verdict in graded(lesson, symbol, seed).items()}
    return differences(table_of(lesson, symbol), now)


@a_sample
@every_exercise_on_every_seed
def test_the_marks_are_those_of_the_table(lesson: str, symbol: str, seed: int) -> None:
    insist_on_none(changes(lesson, symbol, seed), lesson)


@a_sample
@every_exercise_on_every_seed
def test_what_is_said_goes_with_the_marks(lesson: str, symbol: str, seed: int) -> None:
    """Somebody who made a known mistake reads its advice."""
    advice = {mistake.name: mistake.advice for mistake in load_lesson(lesson)[symbol].mistakes}
    for answer, verdict in graded(lesson, symbol, seed).items():
        if answer.kind == "mistake":
            assert verdict.message == " ".join(filter(None, (advice[answer.name], verdict.patients)))
        full = verdict.score == verdict.max_score
        assert full == (verdict.status == PASSED), answer
        assert full or verdict.status in (PARTIAL, FAILED, ERROR), answer
        assert verdict.message, answer


A_CROSS = re.compile(r'aria-label="fails"')
CONTRADICTIONS = (
    ("shape", r"right (type and )?shape"),
    ("values", r"\bvalues? (is|are) right|result itself is right"),
)
"""The name of an aspect, and words that nobody reads who failed there."""
FALSE_PRAISE = (
    (r"is ever dropped", r"dropout in training"),
    (r"straight into the file", r"beside the checkpoint"),
    (r"never learn", r"is trained"),
)
"""Words of a message, and what is not praised beside them, even where nothing in it went wrong."""


@a_sample
@every_exercise_on_every_seed
def test_a_card_says_one_thing_and_nothing_false(lesson: str, symbol: str, seed: int) -> None:
    """At most one aspect is explained, none where the mistake has a name; nothing says that what failed is right."""
    for answer, verdict in graded(lesson, symbol, seed).items():
        shown, stands = card(verdict), standing(verdict)
        crosses = len(A_CROSS.findall(shown))
        assert crosses == (stands.wrong is not None) <= (verdict.diagnosis is None), answer
        failed = {aspect.name for aspect in verdict.aspects if not aspect.passed}
        assert not failed & set(stands.right), answer
        for name, words in CONTRADICTIONS:
            assert name not in failed or not re.search(words, f"{verdict.message} {stands.lines}"), answer
        for words, praised in FALSE_PRAISE:
            assert not (re.search(words, verdict.message) and re.search(praised, " ".join(stands.right))), answer
        assert "Partly right" not in shown or 2 * verdict.score >= verdict.max_score, answer
        assert "cellcheck" not in verdict.message, answer


@pytest.mark.parametrize("symbol", ["EncoderLayer", "DecoderLayer"])
def test_a_default_that_is_wrong_is_no_option_that_is_ignored(symbol: str) -> None:
    reference = load_lesson("08")[symbol].references[0]
    place = dict(vars(sys.modules[reference.__module__]))
    exec(inspect.getsource(reference).replace("norm_first: bool = False", "norm_first: bool = True"), place)
    judge = judge_of("08_attention_is_all_you_need", symbol, 0)
    verdict = judge.verdict(judge.observe(place[symbol]))
    assert verdict.diagnosis == "always_pre_norm"
    assert "always" not in verdict.message


@a_sample
@every_exercise_on_every_seed
def test_an_answer_is_right_to_the_end_when_it_earns_all_points(lesson: str, symbol: str, seed: int) -> None:
    """The audit goes case by case, and stops where nothing can be right any more."""
    judge, seen = observed(lesson, symbol, seed)
    for answer, verdict in graded(lesson, symbol, seed).items():
        assert judge.right_so_far(seen[answer]) == (verdict.status == PASSED), answer


@a_sample
@every_exercise_on_every_seed
def test_answering_leaves_the_cases_as_they_were(lesson: str, symbol: str, seed: int) -> None:
    judge, _ = observed(lesson, symbol, seed)
    for used, new in zip(judge.cases, judge_of(lesson, symbol, seed).cases, strict=True):
        assert not compare(dict(new.inputs), dict(used.inputs))


# --- what a change does

LESSON, SYMBOL = lesson_names()[0], "pick"


def changed(monkeypatch: pytest.MonkeyPatch, change: Callable[[Exercise], Exercise]) -> list[str]:
    """What the table says to a change in an exercise."""
    lesson = load_lesson(LESSON)
    others = tuple(change(one) if one.symbol == SYMBOL else one for one in lesson.exercises)
    after: Lesson = replace(lesson, exercises=others)
    monkeypatch.setattr(marks, "load_lesson", lambda _: after)
    now = {answer: {SEEDS[0]: mark} for answer, mark in marks_now(LESSON, SYMBOL, SEEDS[0]).items()}
    return differences(table_of(LESSON, SYMBOL), now)


def test_a_change_of_wording_changes_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    def reword(exercise: Exercise) -> Exercise:
        return replace(exercise, mistakes=tuple(replace(m, advice="Or is it?") for m in exercise.mistakes))

    assert changed(monkeypatch, reword) == []


def test_a_change_of_weight_is_told_mistake_by_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def weigh(exercise: Exercise) -> Exercise:
        aspects = tuple(replace(a, weight=a.weight + 5 * (a.name == "dtype kept")) for a in exercise.aspects)
        return replace(exercise, aspects=aspects)

    lines = changed(monkeypatch, weigh)
    assert "pick, mistake graph_cut: 0.85 (graph_cut) in the table, 0.89 (graph_cut) now (seed 0)" in lines
    assert len(lines) < len(table_of(LESSON, SYMBOL)) / 2  # what failed with either weight, or passed, stays as it was
    with pytest.raises(pytest.fail.Exception, match="make marks LESSON=01"):
        insist_on_none(lines, LESSON)


def test_another_diagnosis_is_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(exercise: Exercise) -> Exercise:
        return replace(exercise, mistakes=tuple(m for m in exercise.mistakes if m.name != "graph_cut"))

    lines = changed(monkeypatch, forget)
    assert "pick, mistake graph_cut: in the table, and not in the lesson" in lines
    assert "pick, wrong graph cut by fancy indexing: 0.85 (graph_cut) in the table, 0.85 now (seed 0)" in lines


def test_what_is_written_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lucky = dict(zip(SEEDS, [Mark(1), Mark(1), Mark(0.5, "late"), Mark(1), Mark(1)], strict=True))
    table = {
        Answer("two", "wrong", "sum 01"): lucky,
        Answer("two", "mistake", "late"): dict.fromkeys(SEEDS, Mark(0.25, "late")),
        Answer("one", "reference", "one"): dict.fromkeys(SEEDS, Mark(2)),
    }
    monkeypatch.setattr(marks, "FOLDER", tmp_path)
    assert recorded(LESSON) == {}
    marks.write(LESSON, table)
    assert recorded(LESSON) == table
    assert (tmp_path / "01.csv").read_text().splitlines() == [
        "symbol,kind,name,points,diagnosis",
        "one,reference,one,2,",
        "two,mistake,late,0.25,late",
        "two,wrong,sum 01,1 1 0.5 1 1,- - late - -",
    ]
