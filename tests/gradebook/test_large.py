"""What a large class needs: batches, results that stay on the disk, lines in a log, no table that nobody reads."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cellcheck import batch
from cellcheck.cli import grading, shared
from cellcheck.errors import GraderError
from cellcheck.gradebook import autograde
from cellcheck.gradebook.book import Book, GradebookEntry
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.journal import Journal
from cellcheck.running.result import Failure, to_json
from cellcheck.tables import Summary
from tests.gradebook.small_class import (
    FIRST,
    LESSON,
    STANDS,
    assert_same,
    command,
    content,
    copy_of,
    grade,
    heard,
    result,
)


def commits(work: Course) -> int:
    """How many transactions grading takes."""
    seen: list[None] = []
    work.ensure_assignment(LESSON)
    with heard(lambda connection: seen.append(None), "commit"):
        grade(work)
    return len(seen)


def test_what_is_done_together_is_one_transaction(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = copy_of(course, "one by one")
    together = commits(course)
    monkeypatch.setattr(autograde, "TOGETHER", 1)
    assert commits(one_by_one) == together + 1  # `graded_at_once` has two of the three done at the same time
    assert_same(course, one_by_one)


GROWING = ("grade", "comment", "submitted_notebook", "submitted_assignment", "student")


def test_no_query_looks_at_the_whole_class(course: Course) -> None:
    """What one submission costs must not depend on how many there are: each query finds its rows by an index."""
    asked: dict[str, Any] = {}

    def noted(connection: object, cursor: object, statement: str, parameters: Any, *more: object) -> None:
        if statement.startswith(("SELECT", "UPDATE")):
            asked.setdefault(statement, parameters[0] if isinstance(parameters, list) else parameters)

    course.ensure_assignment(LESSON)
    with course.gradebook() as gradebook:  # late, so that the penalty's queries run too
        gradebook.find_assignment(LESSON).duedate = datetime(2020, 1, 1)
        gradebook.db.commit()
    (course.submission("ada", LESSON) / "timestamp.txt").write_text("2026-01-01 12:00:00 UTC")
    with course.gradebook() as gradebook:
        book = Book(course, gradebook, LESSON)
        with heard(noted, "before_cursor_execute"):
            for _ in range(2):  # the first time all is new, then it is changed
                book.write([GradebookEntry("ada", datetime(2026, 1, 1), {}, frozenset())])
            book.marks(["ada"]), book.given(["ada"]), book.students()
            book.write_penalties(book.penalties_due(["ada"])["ada"])
        raw = gradebook.db.connection()
        for statement, parameters in asked.items():
            plan = [row[3] for row in raw.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            assert not [step for step in plan if re.match(rf"SCAN ({'|'.join(GROWING)})\b", step)], (statement, plan)
    assert {table for table in GROWING for statement in asked if re.search(rf"\b{table}\b", statement)} == {*GROWING}


def test_whoever_is_at_fault_pays_alone(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Book.write

    def faulty(self: Book, entries: Sequence[GradebookEntry]) -> None:
        if any(entry.student == "bea" for entry in entries):
            raise GraderError("there is a fault")
        write(self, entries)

    monkeypatch.setattr(Book, "write", faulty)
    outcomes = grade(course)
    assert {name for name, outcome in outcomes.items() if isinstance(outcome, Failure)} == {"bea"}
    assert outcomes["bea"].message == "The marks can't be written: there is a fault"
    assert len(content(course.root)["submitted_assignment"]) == len(STANDS) - 1


def test_a_journal_holds_places_and_reads_results_when_asked(tmp_path: Path) -> None:
    journal = Journal(tmp_path, LESSON)
    journal.begin(7)
    journal.add((name, f"digest of {name}", result(name)) for name in ("bea", "ada"))
    journal.add([("bea", "another digest", result("cy"))])
    again = Journal(tmp_path, LESSON)
    assert again.go_on()
    for there in (journal, again):
        assert list(there.results()) == ["ada", "bea"]
        assert there.results()["bea"] == again.results()["bea"]
        assert there.results()["bea"].score == result("cy").score
        assert there.graded("bea", "digest of bea") is None
        assert there.graded("bea", "another digest") is not None
        with pytest.raises(KeyError):
            there.results()["cy"]
    Journal(tmp_path, LESSON).begin(8)  # another grader's
    with pytest.raises(GraderError, match="Somebody else has written to"):
        again.results()["bea"]


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(seconds: float) -> list[str]:
        monkeypatch.setattr(batch, "LOG_SECONDS", seconds)
        log = StringIO()
        with batch.progress(Console(file=log), "grading", 3) as advance:
            for name in ("ada", "bea", "cy"):
                advance(name)
        return log.getvalue().splitlines()

    first, second = said(0.0)  # of the end, the tables speak
    line = r"grading: {} of 3, \d+\.\d (a second|seconds each), \d+ (seconds|minutes) left"
    assert re.fullmatch(line.format(1), first)
    assert re.fullmatch(line.format(2), second)
    assert said(3600.0) == []


def test_results_are_written_one_by_one_as_they_would_be_at_once(tmp_path: Path) -> None:
    good, bad = result("ada", path="a.ipynb"), Failure("b.ipynb", 'It is "empty".\n')
    for outcomes in ([], [good], [bad], [bad, good, good, bad]):
        shared.write_results(tmp_path / "streamed", outcomes)
        shared.write_json(tmp_path / "at once", to_json(outcomes))
        assert (tmp_path / "streamed").read_bytes() == (tmp_path / "at once").read_bytes()
        assert json.loads((tmp_path / "streamed").read_text())["version"] == 1
    with pytest.raises(GraderError, match="can't be written"):
        shared.write_results(tmp_path / "no" / "folder", [good])


def test_a_summary_counts_on_the_way() -> None:
    outcomes = [result("ada"), result("bea"), Failure("x", "y"), result("cy")]
    summary = Summary()
    assert list(summary.counting((str(n), outcome) for n, outcome in enumerate(outcomes))) == [
        (str(n), outcome) for n, outcome in enumerate(outcomes)
    ]
    shown = [Console(file=StringIO(), width=200, record=True) for _ in range(2)]
    shown[0].print(summary.table())
    shown[1].print(Summary.of(outcomes).table())
    assert shown[0].export_text() == shown[1].export_text()
    assert summary.standings()[0].right == 1


def test_a_large_class_gets_no_table_of_everybody(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grading, "LONG", 2)
    assert command(course, monkeypatch, "--seed", "7") == 0
    printed = capsys.readouterr().out
    assert f"3 submissions, 0 not graded: cellcheck export {LESSON} lists them all." in printed
    assert not re.search("^ada ", printed, re.MULTILINE)
    assert FIRST in printed
