"""Whatever a docstring promises, something looks at: an answer that breaks one sentence of it loses points."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.syllabus import lesson_names, load_lesson
from tests.lessons.marks import Answer, Mark, answers, exercises, judge_of, recorded, seen_of
from tests.nightly import drawn, later
from tests.sentences import promises
from tests.sentences.promises import PREMISE, Promise, faults, listed, path_of, said, sentences, write

LISTED = [lesson for lesson in lesson_names() if path_of(lesson).is_file()]
EXERCISES = [pair for lesson in LISTED for pair in exercises(lesson)]
LONG = {"encoder_influence"}
"""Those that take ten processor seconds are for the night."""
LESSON = LISTED[0]


@pytest.mark.parametrize("lesson", LISTED)
def test_each_sentence_has_what_looks_at_it_and_a_mistake_that_breaks_it(lesson: str) -> None:
    if amiss := list(faults(lesson)):
        pytest.fail("\n".join(amiss), pytrace=False)


@drawn(3)
@pytest.mark.parametrize(
    ("lesson", "symbol"),
    [
        pytest.param(lesson, symbol, id=f"{lesson[:2]}-{symbol}", marks=later if symbol in LONG else ())
        for lesson, symbol in EXERCISES
    ],
)
def test_whoever_makes_the_mistake_fails_the_aspects(lesson: str, symbol: str) -> None:
    """Each aspect of a line by one of its mistakes, and each mistake by one of its aspects."""
    lines = [line for line in listed(lesson) if line.symbol == symbol and not line.premise]
    judge = judge_of(lesson, symbol, seed=0, combinations=0)
    failed = {
        answer.name: {aspect.name for aspect in judge.verdict(seen_of(one, judge)).aspects if not aspect.passed}
        for answer, one in answers(lesson, symbol).items()
        if answer.kind == "mistake" and any(answer.name in line.mistakes for line in lines)
    }
    amiss = defaultdict(list)
    for line in lines:
        for name in line.mistakes:
            if not failed[name] & set(line.looked_at_by):
                amiss[str(line)].append(f"{name} fails none of its aspects, but {sorted(failed[name])}")
        for aspect in line.looked_at_by:
            if not any(aspect in failed[name] for name in line.mistakes):
                amiss[str(line)].append(f"none of its mistakes fails {aspect!r}")
    assert not amiss


def test_a_docstring_is_taken_apart_into_sentences() -> None:
    docstring = """Rows of numbers: (batch, n) ->
    (batch, n).

    `rows` is 0.5 or more. k of them
    are drawn; what else? Each once.

    - `add(row)` adds one.
    - `free()` says how many
      are free. None is lost.

    >>> rows(1.0)
    2. And more.

    Source: Somebody et al. 2023, section 4.
    """
    assert list(sentences(docstring)) == [
        "Rows of numbers: (batch, n) -> (batch, n).",
        "`rows` is 0.5 or more.",
        "k of them are drawn; what else?",
        "Each once.",
        "`add(row)` adds one.",
        "`free()` says how many are free.",
        "None is lost.",
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(promises, "FOLDER", tmp_path)
    return tmp_path


LINES = listed(LESSON)
ASKING = next(line for line in LINES if not line.premise)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (None, "This has no line"),
        (replace(ASKING, sentence="It sings."), "No docstring says so any more"),
        (replace(ASKING, mistakes=()), "Name an aspect"),
        (replace(ASKING, looked_at_by=()), "Name an aspect"),
        (replace(ASKING, looked_at_by=("beauty",)), "There is no aspect 'beauty'"),
        (replace(ASKING, mistakes=("never_made",)), "There is no mistake 'never_made'"),
    ],
)
def test_what_is_amiss_is_said(line: Promise | None, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [one for one in (line, *LINES) if one is not None and one != ASKING]
    monkeypatch.setattr(promises, "listed", lambda lesson: lines)
    assert any(fault in one for one in faults(LESSON))


def test_a_mistake_that_loses_nothing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    most = load_lesson(LESSON)[ASKING.symbol].points
    free = {Answer(ASKING.symbol, "mistake", name): {0: Mark(most)} for name in ASKING.mistakes}
    monkeypatch.setattr(promises, "recorded", lambda lesson: recorded(lesson) | free)
    assert [one for one in faults(LESSON) if "loses no points" in one]


def test_a_list_written_anew_keeps_what_was_filled_in(folder: Path) -> None:
    assert write(LESSON) == len(said(LESSON))
    symbol, sentence = said(LESSON)[0]
    path = promises.path_of(LESSON)
    path.write_text(path.read_text("utf-8").replace(",,\n", f",{PREMISE},\n", 1), "utf-8")
    assert write(LESSON) == len(said(LESSON)) - 1
    assert listed(LESSON)[0] == Promise(symbol, sentence, (PREMISE,))
