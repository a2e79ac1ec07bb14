"""An autograder for courses of notebooks.

In a notebook: `check = grader.checks("01_my_topic")`, then `check(symbol)`; at the end `grader.submit()`.
That part needs no nbgrader.

From Python: `grader.grade_notebook(path)` gives a notebook's marks, `grader.grade_notebooks(paths)` those of many,
`grader.autograde(course, assignment)` grades a class into its gradebook.
docs/api.md shows how. What is in `__all__` is stable; the modules that it comes from may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from grader.api import grade_notebook, grade_notebooks, hidden_seed
    from grader.checking.judge import AspectResult, Evidence, Status, Verdict
    from grader.checking.notebook import Checker
    from grader.errors import GraderError, MissingProtection
    from grader.gradebook.report import Progress, Report
    from grader.leaderboard.standings import Standings
    from grader.running.intake import Unreadable
    from grader.running.limits import Limits
    from grader.running.result import Failure, OwnResult, Result, from_json, to_json
    from grader.submitting.notebook import Receipt
    from grader.whole_class import autograde, score_entries

__all__ = [
    "AspectResult",
    "Evidence",
    "Failure",
    "GraderError",
    "Limits",
    "MissingProtection",
    "OwnResult",
    "Progress",
    "Report",
    "Result",
    "Standings",
    "Status",
    "Unreadable",
    "Verdict",
    "autograde",
    "checks",
    "from_json",
    "grade_notebook",
    "grade_notebooks",
    "hidden_seed",
    "score_entries",
    "submit",
    "to_json",
]

# Imported when first used: a learner's notebook imports this package too, and needs none of it.
_HOMES = {
    "grader.api": ("grade_notebook", "grade_notebooks", "hidden_seed"),
    "grader.checking.judge": ("AspectResult", "Evidence", "Status", "Verdict"),
    "grader.errors": ("GraderError", "MissingProtection"),
    "grader.gradebook.report": ("Progress", "Report"),
    "grader.leaderboard.standings": ("Standings",),
    "grader.running.intake": ("Unreadable",),
    "grader.running.limits": ("Limits",),
    "grader.running.result": ("Failure", "OwnResult", "Result", "from_json", "to_json"),
    "grader.whole_class": ("autograde", "score_entries"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(importlib.import_module(home), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
