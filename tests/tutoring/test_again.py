"""Again, without help: a week later, with other cases and no hints, beside the old answer."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cellcheck import api
from cellcheck.checking.check import Checker
from cellcheck.errors import GraderError
from cellcheck.learning import progress
from cellcheck.learning.again import begin, due, fresh, place_of, solved
from cellcheck.learning.offers import offers, released
from cellcheck.learning.reset import place, reset
from cellcheck.learning.standing import standings
from cellcheck.learning.table import progress_table
from cellcheck.syllabus import load_lesson
from tests.learning.test_progress import recorded_by_a_kernel

LESSON, SYMBOL = "05_causal_masks", "causal_mask"
TODAY = date.today()  # when the file was read: a record made by a test may be of the next day
LATER = TODAY + timedelta(days=8)


def text(notebook: Path) -> str:
    return "\n".join("".join(cell["source"]) for cell in json.loads(notebook.read_text("utf-8"))["cells"])


def test_a_record_of_the_far_future_is_not_due(tmp_path: Path) -> None:
    progress.note(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    record = tmp_path / progress.FILE
    whole, today = record.read_text("utf-8"), progress.record(tmp_path).solved[LESSON][SYMBOL]
    record.write_text(whole.replace(f"{today}", f"{date.max}"), "utf-8")
    assert progress.record(tmp_path).solved[LESSON][SYMBOL] == date.max
    assert due(tmp_path, LATER) == []


def test_it_comes_back_after_a_week_and_once(tmp_path: Path) -> None:
    progress.note(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    progress.note(tmp_path, LESSON, "decoder_mask", 1.0, "partial")
    assert due(tmp_path, TODAY + timedelta(days=6)) == []
    assert [each.exercise.symbol for each in due(tmp_path, LATER)] == [SYMBOL]
    progress.note_again(tmp_path, LESSON, SYMBOL, 0.0, "failed")
    assert due(tmp_path, LATER) == []
    (tried,) = solved(tmp_path)
    assert (tried.score, tried.still_known) == (0.0, False)
    progress.note_again(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    assert solved(tmp_path)[0].still_known
    assert progress.read(tmp_path) == {LESSON: {SYMBOL: 2.0, "decoder_mask": 1.0}}


def test_looking_at_ours_is_not_solving(tmp_path: Path) -> None:
    progress.note(tmp_path, LESSON, SYMBOL, 0.0, progress.OURS)
    known = progress.record(tmp_path)
    assert TODAY <= known.ours[LESSON][SYMBOL] <= date.today()
    assert due(tmp_path, LATER) == []
    progress.forget(tmp_path, LESSON, [SYMBOL])
    assert progress.record(tmp_path).ours == known.ours


def test_the_old_answer_is_not_touched(tmp_path: Path) -> None:
    old = place(LESSON, tmp_path)
    old.write_text(old.read_text("utf-8").replace("raise NotImplementedError()", "pass  # mine", 1), "utf-8")
    before = old.read_bytes()
    copy = begin(tmp_path, "05", SYMBOL, LATER)
    assert copy == place_of(tmp_path, LESSON, SYMBOL)
    assert old.read_bytes() == before
    assert begin(tmp_path, LESSON, SYMBOL) == copy  # a second press keeps what was written
    assert f"again={LATER.toordinal()}" in text(copy)
    assert "Use our version" not in text(copy)
    assert "Hint" not in text(copy)
    assert f"import {SYMBOL}\n" not in text(copy)
    with pytest.raises(GraderError, match="no exercise nothing"):
        begin(tmp_path, LESSON, "nothing")


@pytest.mark.parametrize("lesson", [offer.name for offer in offers()])
def test_each_exercise_has_a_fresh_copy_without_help(lesson: str) -> None:
    release: dict[str, Any] = json.loads(released()[lesson].read_text("utf-8"))
    symbols = [each.symbol for offer in offers() if offer.name == lesson for each in offer.exercises]
    for symbol in symbols:
        copy = fresh(release, symbol, 739_000)
        assert copy is not None
        setup, words, blank, check = ("".join(cell["source"]) for cell in copy["cells"])
        assert f'checks("{lesson}", again=739000' in setup
        assert "<details" not in words
        assert "Hint" not in words
        assert f"`{symbol}`" in words
        assert "raise NotImplementedError" in blank
        assert check.strip() == f"check({symbol})"
        compile(setup, "setup", "exec")
        earlier = symbols[: symbols.index(symbol)]
        assert all(f"import {name}\n" in f"{setup}\n" for name in earlier)
        assert f" import {symbol}\n" not in f"{setup}\n"


def test_it_has_other_cases_and_no_hints() -> None:
    first, second = Checker(LESSON), Checker(LESSON, seed=LATER.toordinal())
    exercise = load_lesson(LESSON)["future_leak"]
    wrong = exercise.mistakes[0].implementation
    verdicts = [checker.verdict("future_leak", wrong) for checker in (first, second)]
    cases = [checker._judges["future_leak"].cases for checker in (first, second)]
    assert [str(case.inputs) for case in cases[0]] != [str(case.inputs) for case in cases[1]]
    shown = [checker._report(verdict).shown() for checker, verdict in zip((first, second), verdicts, strict=True)]
    assert ["Hint 1" in each for each in shown] == [True, False]
    assert "Use our version" not in shown[1]


SOLVE = """
import cellcheck, torch
check = cellcheck.checks("05_causal_masks", again=739000)
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()
result = check(causal_mask)
print(float(result))
"""


def test_a_kernel_records_it_beside_the_first_time(tmp_path: Path) -> None:
    progress.note(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    copy = begin(tmp_path, LESSON, SYMBOL)
    recorded_by_a_kernel(tmp_path, SOLVE, JPY_SESSION_NAME=str(copy))
    known = progress.record(tmp_path)
    assert known.again == {LESSON: {SYMBOL: 2.0}}
    assert TODAY <= known.again_on[LESSON][SYMBOL] <= date.today()
    assert known.best == {LESSON: {SYMBOL: 2.0}}
    console = Console(width=120, record=True, file=None)
    with console.capture() as output:
        console.print(progress_table(standings(tmp_path), console))
    assert "again, without help" in output.get()
    assert "1 of 1" in output.get()


def test_the_class_can_have_it_marked(tmp_path: Path) -> None:
    """A fresh copy is a notebook of its lesson: it is graded as any other, on hidden cases."""
    copy = begin(tmp_path, LESSON, SYMBOL)
    content = json.loads(copy.read_text("utf-8"))
    content["cells"][2]["source"] = "def causal_mask(length):\n    return torch.ones(length, length).tril().bool()\n"
    result = api.grade_notebook(json.dumps(content).encode(), seed=3)
    assert result.lesson == LESSON
    assert {each.symbol: each.status for each in result.verdicts}[SYMBOL] == "passed"
    assert result.score == load_lesson(LESSON)[SYMBOL].points


def test_starting_over_forgets_it(tmp_path: Path) -> None:
    notebook = place(LESSON, tmp_path)
    progress.note(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    progress.note_again(tmp_path, LESSON, SYMBOL, 2.0, "passed")
    reset(notebook)
    assert progress.read(tmp_path) == {LESSON: {}}
    assert solved(tmp_path) == []
