"""An autograder for courses of notebooks.

In a notebook: `check = cellcheck.checks("01_my_topic")`, then `check(symbol)`; at the end `cellcheck.submit()`.
That part needs no nbgrader.

From Python: `cellcheck.grade_notebook(path)` gives a notebook's marks, `cellcheck.grade_notebooks(paths)` those of
many, `cellcheck.autograde(course, assignment)` grades a class into its gradebook.
docs/api.md shows how. What is in `__all__` is stable; the modules that it comes from may change.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from cellcheck.api import grade_notebook, grade_notebooks, hidden_seed
    from cellcheck.checking.check import Checker
    from cellcheck.checking.judge import AspectResult, Evidence, Status, Verdict
    from cellcheck.errors import GraderError, MissingProtection
    from cellcheck.gradebook.report import Progress, Report
    from cellcheck.leaderboard.standings import Standings
    from cellcheck.running.intake import Unreadable
    from cellcheck.running.limits import Limits
    from cellcheck.running.result import Failure, OwnResult, Result, from_json, to_json
    from cellcheck.submitting.submit import Receipt
    from cellcheck.variants import Variant, variant
    from cellcheck.whole_class import autograde, score_entries

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
    "Variant",
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
    "variant",
]

# Imported when first used: a learner's notebook imports this package too, and needs none of it.
_HOMES = {
    "cellcheck.api": ("grade_notebook", "grade_notebooks", "hidden_seed"),
    "cellcheck.checking.judge": ("AspectResult", "Evidence", "Status", "Verdict"),
    "cellcheck.errors": ("GraderError", "MissingProtection"),
    "cellcheck.gradebook.report": ("Progress", "Report"),
    "cellcheck.leaderboard.standings": ("Standings",),
    "cellcheck.running.intake": ("Unreadable",),
    "cellcheck.running.limits": ("Limits",),
    "cellcheck.running.result": ("Failure", "OwnResult", "Result", "from_json", "to_json"),
    "cellcheck.variants": ("Variant", "variant"),
    "cellcheck.whole_class": ("autograde", "score_entries"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(home), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def checks(
    lesson: str, *, made_for: str | None = None, at_most: int | None = None, again: int | None = None
) -> Checker:
    """The `check` function of a lesson. See `cellcheck.checking.check.Checker`.

    Args:
        lesson: its name ("01_my_topic").
        made_for: the version of the course that the notebook was made for ("1.2"). Where another one is installed, one
            sentence says so.
        at_most: how often each exercise may be checked, 0 for an exam without checks. Marks don't depend on it. A
            learner who restarts the notebook starts counting again.
        again: for another try at an exercise that was solved before: the number that other cases are drawn from. There
            are no hints, and what comes of it is recorded beside the first time, not instead of it.
    """
    from cellcheck.checking.check import Checker
    from cellcheck.checking.in_a_sentence import speak_in_sentences
    from cellcheck.checking.judge import PUBLIC_SEED
    from cellcheck.learning.guess_first import ask_first
    from cellcheck.learning.progress import recorder
    from cellcheck.syllabus import find_lesson

    if sys.platform == "emscripten":
        from cellcheck.browser.kernel import prepare

        prepare()
    syllabus, name = find_lesson(lesson)
    if made_for not in (None, syllabus.edition):
        print(
            f"This notebook was made for version {made_for} of the course, and version {syllabus.edition} is installed "
            f"here, so a check may not fit its exercise: start the lesson over, or install version {made_for}."
        )
    seed = PUBLIC_SEED if again is None else again
    check = Checker(name, recorder(name, again=again is not None), at_most, seed)
    speak_in_sentences([exercise.symbol for exercise in check.lesson.exercises], syllabus.notebook(name))
    ask_first()
    return check


def submit(
    lesson: str | None = None,
    *,
    path: str | Path | None = None,
    into: str | Path | None = None,
    name: str | None = None,
) -> Receipt:
    """Hands this notebook in. See `cellcheck.submitting.submit.submit`."""
    from cellcheck.submitting.submit import submit as hand_in

    return hand_in(lesson, path=path, into=into, name=name)
