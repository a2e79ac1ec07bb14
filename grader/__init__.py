"""The autograder of "Transformers, cell by cell".

In a notebook: `check = grader.checks("01_pytorch_basics")`, then `check(symbol)`. That part needs no nbgrader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.checking.notebook import Checker

__all__ = ["checks"]


def checks(lesson: str) -> Checker:
    """The `check` function of a lesson. See `grader.checking.notebook.Checker`."""
    from grader.checking.notebook import Checker

    return Checker(lesson)
