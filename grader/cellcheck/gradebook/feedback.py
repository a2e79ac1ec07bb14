"""The page that a learner gets: one self-contained HTML file, without a hidden case or another learner's name."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from markupsafe import Markup

from cellcheck.checking.cards import card, points, worth
from cellcheck.checking.judge import MISSING, PARTIAL, PASSED, Verdict
from cellcheck.errors import GraderError
from cellcheck.gradebook.draft import Key
from cellcheck.gradebook.handed import CodeCell
from cellcheck.plain import template, visible_lines
from cellcheck.running.result import HandResult, OwnResult, Part, Result, title_of
from cellcheck.syllabus import find_lesson

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
LONGEST = 10_000
"""Characters of an answer that are shown."""


def page(
    result: Result,
    student: str,
    cards: Mapping[str, str] | None = None,
    answers: Mapping[str, str] | None = None,
    handed: Mapping[Key, Sequence[CodeCell]] | None = None,
    when: datetime | None = None,
) -> str:
    """The feedback page of one submission.

    Args:
        result: what came of it.
        student: whose it is.
        cards: those that were made before, by symbol.
        answers: what was handed in, by symbol.
        handed: the same for the answers that a person grades.
        when: it was handed in, in UTC, where that is known.
    """
    by_symbol = cards or {}
    code = {symbol: _to_read(text) for symbol, text in (answers or {}).items()}
    wrong = [v for v in result.verdicts if v.status not in (PASSED, MISSING)]
    of_points = [part for part in result.parts if part.max_score or not isinstance(part, HandResult)]
    return template("cellcheck.gradebook").render(
        title=titled(result.lesson),
        student=student,
        when=_minute(when),
        result=result,
        opening=_opening(result),
        parts=[(part, _stands(part), _sign(part)) for part in of_points],
        commented=[part for part in result.by_hand if part.comment],
        handed=[(part, cells) for part in result.by_hand if (cells := _handed(part, handed or {}))],
        to_read=_to_read,
        points=points,
        worth=worth,
        title_of=title_of,
        card=lambda verdict: Markup(by_symbol.get(verdict.symbol) or card(verdict)),
        code=code,
        slow=[(number, seconds) for number, seconds in result.cells if seconds >= WORTH_A_LINE],
        groups=[
            ("To look at again", wrong),
            ("Right", [v for v in result.verdicts if v.status == PASSED]),
            ("Still blank", [v for v in result.verdicts if v.status == MISSING]),
        ],
    )


def _handed(part: HandResult, handed: Mapping[Key, Sequence[CodeCell]]) -> Sequence[CodeCell]:
    """What was handed in for an answer; a single notebook needs no name."""
    return next(
        (cells for (title, name), cells in handed.items() if (part.notebook or title, part.name) == (title, name)), ()
    )


def _to_read(code: str) -> str:
    """Somebody's code as it can be shown: nothing that can't be seen, and no more than anybody reads."""
    return visible_lines(code if len(code) <= LONGEST else f"{code[:LONGEST]}\n...")


def _stands(part: Part) -> str:
    """How a part of the mark stands, in a few words."""
    if isinstance(part, HandResult):
        if part.blank:
            return "still blank"
        return "graded by hand" if part.score is not None else "to be graded by hand"
    if isinstance(part, OwnResult):
        return {PASSED: "passes", PARTIAL: "passes in part", MISSING: "still blank"}.get(part.status, "does not pass")
    return WORDS[part.status]


def _sign(part: Part) -> str:
    """The same as a sign that the eye finds down the column; none for what a person has graded, or will."""
    if isinstance(part, HandResult):
        return "\u25cb" if part.blank else ""
    return {PASSED: "\u2713", PARTIAL: "\u25d0", MISSING: "\u25cb"}.get(part.status, "\u2717")


def failure_page(lesson: str, student: str, message: str, when: datetime | None = None) -> str:
    """The page of a submission that could not be graded: why, and what to do."""
    return template("cellcheck.gradebook").render(
        title=titled(lesson), student=student, when=_minute(when), result=None, opening=message
    )


def _minute(when: datetime | None) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC" if when else ""


def titled(lesson: str) -> str:
    """A lesson's number and title; a plain assignment has only its name."""
    try:
        syllabus, name = find_lesson(lesson)
        return f"Lesson {int(name.split('_')[0])}: {syllabus.head(name).title}" if name == lesson else lesson
    except GraderError:
        return lesson


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
        opening += f" {points(result.penalty)} of your {worth(result.score)} were taken off for being late."
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
