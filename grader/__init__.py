"""An autograder for courses of notebooks.

In a notebook: `check = grader.checks("01_my_topic")`, then `check(symbol)`; at the end `grader.submit()`.
That part needs no nbgrader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from grader.checking.notebook import Checker
    from grader.submitting.notebook import Receipt

__all__ = ["checks", "submit"]


def checks(lesson: str) -> Checker:
    """The `check` function of a lesson. See `grader.checking.notebook.Checker`."""
    from grader.checking.notebook import Checker
    from grader.learning.progress import recorder
    from grader.syllabus import load_lesson

    name = load_lesson(lesson).name
    return Checker(name, recorder(name))


def submit(
    lesson: str | None = None,
    *,
    path: str | Path | None = None,
    into: str | Path | None = None,
    name: str | None = None,
) -> Receipt:
    """Hands this notebook in. See `grader.submitting.notebook.submit`."""
    from grader.submitting.notebook import submit as hand_in

    return hand_in(lesson, path=path, into=into, name=name)
