"""What is late, what that costs, and which attempt counts: from rules and times alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cellcheck.serving.settings import Rules

DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Attempt:
    """A submission, as far as it matters here."""

    id: int
    received: float
    score: float | None
    """None while it isn't graded, or where it can't be."""
    chosen: bool = False


def due_for(rules: Rules, extended: float | None) -> float | None:
    """When it is due for somebody: an extension takes the place of the date, and never makes it earlier."""
    if rules.due is None:
        return None
    return rules.due if extended is None else max(rules.due, extended)


def closes_for(rules: Rules, extended: float | None) -> float | None:
    """When it closes for somebody: an extension keeps it open, with the grace that everybody has."""
    if rules.closes is None or extended is None:
        return rules.closes
    return max(rules.closes, extended + 60 * rules.grace_minutes)


def days_late(received: float, due: float | None, grace_minutes: int = 0) -> int:
    """The days of delay that have begun; within the grace it is on time, and afterwards the grace counts for nothing.

    >>> days_late(1000.0, 1000.0), days_late(1001.0, 1000.0), days_late(1001.0, 1000.0, grace_minutes=1)
    (0, 1, 0)
    """
    if due is None or received <= due + 60 * grace_minutes:
        return 0
    return math.ceil((received - due) / DAY)


def mark(score: float, late: int, rules: Rules) -> float:
    """The points that count of those that were earned, to the hundredth: what is shown is what is compared."""
    return round(max(0.0, score * (1.0 - rules.penalty_per_day * late)), 2)


def counting(attempts: Sequence[Attempt], rules: Rules, due: float | None) -> Attempt | None:
    """The attempt that counts, of those that are graded; None while there is none.

    "best" is the best after what is taken off for being late, and of equal ones the earliest. "chosen" is what the
    learner chose, and the last one until they choose.
    """
    graded = sorted((one for one in attempts if one.score is not None), key=lambda one: (one.received, one.id))
    if not graded:
        return None
    if rules.counts == "chosen":
        return next((one for one in graded if one.chosen), graded[-1])
    if rules.counts == "last":
        return graded[-1]

    def worth(one: Attempt) -> float:
        return mark(one.score or 0.0, days_late(one.received, due, rules.grace_minutes), rules)

    return max(graded, key=worth)  # of equal ones, the first


def attempts_left(received: Sequence[float], rules: Rules, now: float) -> int:
    """How many more somebody may hand in: what the last 24 hours leave."""
    return max(0, rules.attempts_per_day - sum(time > now - DAY for time in received))
