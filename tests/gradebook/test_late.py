"""A due date, an extension or a rule for late work that comes after grading: `--resume` applies it to everybody."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cellcheck.gradebook import autograde
from cellcheck.gradebook.course import Course
from cellcheck.running.result import Result
from tests.gradebook.small_class import LESSON, grade, heard, marks

RULE = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
LATE = "taken off for being late"


def page(of: Course, student: str) -> str:
    return of.feedback(student, LESSON).read_text("utf-8")


def penalties(of: Course) -> dict[str, float]:
    with of.gradebook() as book:
        return {s.student_id: s.late_submission_penalty or 0.0 for s in book.assignment_submissions(LESSON)}


def nobody(paths: Iterable[object], job: object, others: object) -> Iterator[list[tuple[Path, Result]]]:
    """In place of `grade_in_groups`: nobody is graded again."""
    assert list(paths) == []
    yield from ()


@pytest.fixture
def late(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Everybody handed in at noon and was graded; then it is said that ten o'clock was the time, and what it costs."""
    grade(course)
    assert set(penalties(course).values()) == {0.0}
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + RULE, "utf-8")
    with course.gradebook() as book:
        book.update_or_create_assignment(LESSON, duedate="2026-03-01 10:00:00 UTC")
        book.grant_extension(LESSON, "bea", days=1)
    monkeypatch.setattr(autograde, "grade_in_groups", nobody)
    return Course.open(course.root)


def test_resume_applies_what_has_changed_since(late: Course) -> None:
    earned = marks(late)
    grade(late, resume=True)
    assert penalties(late) == {"ada": earned["ada"], "bea": 0.0, "cy": 0.0}
    assert [LATE in page(late, student) for student in ("ada", "bea", "cy")] == [True, False, False]
    assert marks(late) == earned
    with late.gradebook() as book:
        book.grant_extension(LESSON, "ada", days=1)
    grade(late, resume=True)
    assert set(penalties(late).values()) == {0.0}
    assert LATE not in page(late, "ada")


def test_marks_of_a_learner_whose_folder_is_gone_too(late: Course) -> None:
    shutil.rmtree(late.root / "submitted" / "ada")
    grade(late, resume=True)
    assert penalties(late)["ada"] == marks(late)["ada"] > 0
    assert LATE in page(late, "ada")


def test_killed_between_the_page_and_the_gradebook(late: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cellcheck.gradebook.book.Book.write_penalties", kill)
        with pytest.raises(KeyboardInterrupt):
            grade(late, resume=True)
    assert set(penalties(late).values()) == {0.0}
    grade(late, resume=True)
    assert penalties(late)["ada"] == marks(late)["ada"]
    assert LATE in page(late, "ada")


def test_where_nothing_has_changed_nothing_is_written(late: Course) -> None:
    grade(late, resume=True)
    before = {path: path.stat().st_mtime_ns for path in (late.root / "feedback").rglob("*.html")}
    written: list[str] = []

    def noted(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            written.append(statement)

    with heard(noted, "before_cursor_execute"):
        grade(late, resume=True)
    assert written == []
    assert {path: path.stat().st_mtime_ns for path in (late.root / "feedback").rglob("*.html")} == before
