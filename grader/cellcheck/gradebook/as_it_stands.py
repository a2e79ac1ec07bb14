"""What came of a submission as the gradebook has it: the machine's verdicts, and what people have given since.

Tables, pages and exports show this, so that each shows the same points.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cellcheck.checking.cards import out_of
from cellcheck.checking.judge import FAILED, PARTIAL, PASSED, Status
from cellcheck.running.assignment import Assignment
from cellcheck.running.result import HandResult, Result


@dataclass(frozen=True)
class Given:
    """What a person gave for a cell, in Formgrader or with nbgrader."""

    score: float | None = None
    """Points, which go before the machine's; None where there are none."""
    extra: float = 0.0
    """Extra credit."""
    open: bool = False
    """Whether somebody must still look at it."""
    comment: str = ""
    auto: float | None = None
    """The machine's points, where the machine gives any."""


def as_it_stands(
    result: Result, given: Mapping[tuple[str, str], Given], assignment: Assignment, penalty: float = 0.0
) -> Result:
    """The result with the points and comments that people gave."""
    verdicts = []
    nothing = Given()
    for verdict in result.verdicts:
        from_person = given.get((assignment.name, f"test_{verdict.symbol}"), nothing)
        if _changes(from_person):
            score = _score(from_person, verdict.score)
            message = _say(score, verdict.max_score)
            status = _status(score, verdict.max_score)
            verdict = replace(
                verdict, score=score, status=status, message=message, diagnosis=None, aspects=(), evidence=None
            )
        verdicts.append(verdict)
    own = []
    alone = next(iter(assignment.notebooks), "")
    for test in result.own_tests:
        from_person = given.get((test.notebook or alone, test.name), nothing)
        if _changes(from_person):
            score = _score(from_person, test.score)
            message = _say(score, test.max_score)
            test = replace(test, score=score, status=_status(score, test.max_score), message=message)
        own.append(test)
    return replace(
        result, verdicts=tuple(verdicts), own_tests=tuple(own), by_hand=_by_hand(given, assignment), penalty=penalty
    )


def _by_hand(given: Mapping[tuple[str, str], Given], assignment: Assignment) -> tuple[HandResult, ...]:
    """The cells that only a person can grade, and whatever else a person has commented on."""
    answers = []
    several = assignment.several
    for title, cells in assignment.notebooks.items():
        number = 0
        for name, cell in cells.items():
            number += cell.by_hand
            here = given.get((title, name), Given())
            if not (here.comment or (cell.by_hand and (cell.points or _changes(here)))):
                continue
            where = title if several else ""
            if cell.by_hand:
                score = None if here.open and here.score is None else _score(here, here.auto or 0.0)
                blank = not _changes(here) and not here.open and here.auto == 0
                answers.append(HandResult(name, score, cell.points or 0.0, here.comment, where, blank, number))
            else:
                answers.append(HandResult(name, None, 0.0, here.comment, where))
    return tuple(answers)


def _changes(given: Given) -> bool:
    return given.score is not None or given.extra != 0


def _score(given: Given, machine: float) -> float:
    return round((machine if given.score is None else given.score) + given.extra, 4)


def _status(score: float, most: float) -> Status:
    return PASSED if score >= most else PARTIAL if score > 0 else FAILED


def _say(score: float, most: float) -> str:
    return f"Your instructor gave {out_of(score, most)} for this."
