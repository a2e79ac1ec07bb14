"""The page that a learner gets: one self-contained HTML file, without a hidden case or another learner's name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.checking.cards import card, points
from grader.checking.judge import MISSING, PARTIAL, PASSED, Verdict
from grader.running.result import HandResult, OwnResult, Part, Result, title_of
from grader.syllabus import UnknownLesson, load_lesson

WORDS = {
    "passed": "right",
    "partial": "partly right",
    "failed": "not yet right",
    "missing": "still blank",
    "error": "stops with an error",
    "timeout": "ran too long",
    "memory": "asked for too much memory",
    "crashed": "ended the Python process",
}
WORTH_A_LINE = 0.1  # seconds


def page(result: Result, student: str, cards: Mapping[str, str] | None = None) -> str:
    """The feedback page of one submission. `cards` are those that were made before, by symbol."""
    made = cards or {}
    wrong = [v for v in result.verdicts if v.status not in (PASSED, MISSING)]
    of_points = [part for part in result.parts if part.max_score or not isinstance(part, HandResult)]
    return _template().render(
        title=_title(result.lesson),
        student=student,
        result=result,
        opening=_opening(result),
        parts=[(part, _stands(part)) for part in of_points],
        commented=[part for part in result.by_hand if part.comment],
        points=points,
        title_of=title_of,
        card=lambda verdict: Markup(made.get(verdict.symbol) or card(verdict)),
        slow=[(number, seconds) for number, seconds in result.cells if seconds >= WORTH_A_LINE],
        groups=[
            ("To look at again", wrong),
            ("Right", [v for v in result.verdicts if v.status == PASSED]),
            ("Still blank", [v for v in result.verdicts if v.status == MISSING]),
        ],
    )


def _stands(part: Part) -> str:
    """How a part of the mark stands, in a few words."""
    if isinstance(part, HandResult):
        return "graded by hand" if part.score is not None else "to be graded by hand"
    if isinstance(part, OwnResult):
        return {PASSED: "passes", PARTIAL: "passes in part", MISSING: "still blank"}.get(part.status, "does not pass")
    return WORDS[part.status]


def failure_page(lesson: str, student: str, message: str) -> str:
    """The page of a submission that could not be graded: why, and what to do."""
    return _template().render(title=_title(lesson), student=student, result=None, opening=message)


def _title(lesson: str) -> str:
    """A lesson's number and title; a plain assignment has only its name."""
    try:
        known = load_lesson(lesson)
    except UnknownLesson:
        return lesson
    return f"Lesson {lesson.split('_')[0].lstrip('0')}: {known.title}" if known.name == lesson else lesson


def _opening(result: Result) -> str:
    opening = _of_exercises(result) if result.verdicts else ""
    if result.own_tests:
        right, total = sum(test.status == PASSED for test in result.own_tests), len(result.own_tests)
        what = "Your instructor's only test passes" if right == total == 1 else f"{right} of {total} tests pass"
        opening += f" {what}."
    if result.waiting:
        answers = "answer is" if result.waiting == 1 else "answers are"
        opening += f" {result.waiting} {answers} still to be graded by hand."
    if result.penalty:
        opening += f" {points(result.penalty)} of your {points(result.score)} points were taken off for being late."
    return opening.strip()


def _of_exercises(result: Result) -> str:
    counts = {status: sum(v.status == status for v in result.verdicts) for status in (PASSED, MISSING)}
    total, right, blank = len(result.verdicts), counts[PASSED], counts[MISSING]
    if right == total:
        return f"All {total} exercises are right. Well done: there is nothing left to fix."
    if blank == total:
        return "None of the exercises has been started. Each blank cell says what to write."
    sentence = f"{right} of {total} exercises are right."
    first = _first_to_mend(result)
    if first is not None:
        sentence += f" A good one to look at next: {first.symbol}."
    return sentence + (f" {blank} {'is' if blank == 1 else 'are'} still blank." if blank else "")


def _first_to_mend(result: Result) -> Verdict | None:
    return next((v for v in result.verdicts if v.status not in (PASSED, MISSING)), None)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("grader.gradebook", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("page.html")
