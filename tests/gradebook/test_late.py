"""A due date, an extension or a rule for late work that comes after grading: `--resume` applies it to everybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.gradebook import autograde
from grader.gradebook.course import Course
from grader.running.result import Result
from tests.gradebook.small_class import LESSON, STANDS, course, grade, marks, quick

__all__ = ["course", "quick"]
LATE = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'


def page(of: Course, student: str) -> str:
    return of.feedback(student, LESSON).read_text("utf-8")


def penalties(of: Course) -> dict[str, float]:
    with of.gradebook() as book:
        return {s.student_id: s.late_submission_penalty or 0.0 for s in book.assignment_submissions(LESSON)}


def test_resume_applies_what_has_changed_since(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    grade(course)  # everybody handed in at noon on the first of March
    earned = marks(course)
    assert set(penalties(course).values()) == {0.0}
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + LATE, "utf-8")
    with course.gradebook() as book:
        book.update_or_create_assignment(LESSON, duedate="2026-03-01 10:00:00 UTC")
        book.grant_extension(LESSON, "bea", days=1)
    changed = Course.open(course.root)
    monkeypatch.setattr(autograde, "grade_files", _none)
    grade(changed, resume=True)
    assert penalties(changed) == {"ada": earned["ada"], "bea": 0.0, "cy": 0.0}
    assert "taken off for being late" in page(changed, "ada")
    assert "taken off for being late" not in page(changed, "bea")
    with changed.gradebook() as book:
        book.grant_extension(LESSON, "ada", days=1)
    grade(changed, resume=True)
    assert set(penalties(changed).values()) == {0.0}
    assert "taken off for being late" not in page(changed, "ada")
    assert set(STANDS) == set(earned)


def _none(paths: list[object], job: object, others: object) -> Iterator[tuple[Path, Result]]:
    """Nobody is graded again."""
    assert paths == []
    yield from ()
