"""Where somebody stands: their attempts, which one counts, and what it is worth."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from cellcheck.serving.queue import in_line
from cellcheck.serving.rules import Attempt, attempts_left, closes_for, counting, days_late, due_for, mark
from cellcheck.serving.settings import Rules, Settings
from cellcheck.serving.tables import DONE, QUEUED, RUNNING, Extension, Job, Person, Submission


@dataclass(frozen=True)
class Handed:
    """A submission, as it is shown."""

    id: int
    received: float
    state: str
    ahead: int
    """How many stand before it in the queue, while it waits."""
    score: float | None
    max_score: float | None
    late: int
    """Days."""
    mark: float | None
    """What is left of the score after that."""
    message: str
    counts: bool
    chosen: bool
    asked: str
    answered: str

    @property
    def waits(self) -> bool:
        """Whether it is not graded yet."""
        return self.state in (QUEUED, RUNNING)


@dataclass(frozen=True)
class AssignmentStanding:
    """Somebody and an assignment."""

    rules: Rules
    due: float | None
    """Theirs, with an extension."""
    closes: float | None
    extended: bool
    attempts: tuple[Handed, ...]
    """The latest first."""
    left: int
    """How many more they may hand in today."""
    now: float

    @property
    def open(self) -> bool:
        """Whether there is still something to hand in to."""
        return self.closes is None or self.now <= self.closes

    @property
    def counting(self) -> Handed | None:
        """The attempt that counts."""
        return next((one for one in self.attempts if one.counts), None)


def standings(
    session: Session, settings: Settings, person: int, now: float | None = None
) -> dict[str, AssignmentStanding]:
    """Where somebody stands with each assignment, by lesson."""
    everybody = standings_of(session, settings, [person], now)
    return everybody[person]


def standings_of(
    session: Session, settings: Settings, people: Iterable[int], now: float | None = None
) -> dict[int, dict[str, AssignmentStanding]]:
    """The same for several, read in a few questions whatever their number."""
    people, now = list(people), time.time() if now is None else now
    submissions: dict[tuple[int, str], list[Submission]] = {}
    for submission in session.scalars(select(Submission).where(Submission.person_id.in_(people))):
        submissions.setdefault((submission.person_id, submission.lesson), []).append(submission)
    extended = {
        (one.person_id, one.lesson): one.due
        for one in session.scalars(select(Extension).where(Extension.person_id.in_(people)))
    }
    waits = any(job.state == QUEUED for several in submissions.values() for one in several for job in one.jobs)
    line = in_line(session) if waits else ()
    return {
        person: {
            lesson: _standing(line, rules, submissions.get((person, lesson), []), extended.get((person, lesson)), now)
            for lesson, rules in settings.assignments.items()
        }
        for person in people
    }


def _standing(
    line: Sequence[int], rules: Rules, submissions: list[Submission], extended: float | None, now: float
) -> AssignmentStanding:
    due = due_for(rules, extended)
    jobs = {submission.id: latest(submission) for submission in submissions}
    attempts = [Attempt(one.id, one.received, jobs[one.id].score, one.chosen) for one in submissions]
    counts = counting(attempts, rules, due)
    shown = tuple(
        _handed(line, one, jobs[one.id], rules, due, counts is not None and one.id == counts.id)
        for one in sorted(submissions, key=lambda one: (-one.received, -one.id))
    )
    left = attempts_left([one.received for one in submissions], rules, now)
    return AssignmentStanding(rules, due, closes_for(rules, extended), extended is not None, shown, left, now)


def latest(submission: Submission) -> Job:
    """The grading that counts: the latest that is done, else the latest."""
    done = [job for job in submission.jobs if job.state == DONE]
    return (done or submission.jobs)[-1]


def _handed(
    line: Sequence[int], submission: Submission, job: Job, rules: Rules, due: float | None, counts: bool
) -> Handed:
    late = days_late(submission.received, due, rules.grace_minutes)
    return Handed(
        submission.id,
        submission.received,
        job.state,
        bisect_left(line, job.id) if job.state == QUEUED else 0,
        job.score,
        job.max_score,
        late,
        None if job.score is None else mark(job.score, late, rules),
        job.message,
        counts,
        submission.chosen,
        submission.asked,
        submission.answered,
    )


def learners(session: Session, role: str) -> list[Person]:
    """The people with a role, by name."""
    return list(session.scalars(select(Person).where(Person.role == role).order_by(Person.name)))


def in_words(time_utc: float) -> str:
    """A time, as it is shown: UTC, to the minute."""
    return f"{datetime.fromtimestamp(time_utc, UTC):%Y-%m-%d %H:%M} UTC"


def marks(session: Session, settings: Settings, people: Mapping[int, str]) -> list[dict[str, object]]:
    """The marks that count: a line for each learner and assignment, whether or not something was handed in."""
    everybody = standings_of(session, settings, people)
    lines: list[dict[str, object]] = []
    for person, name in people.items():
        for lesson, standing in everybody[person].items():
            counts = standing.counting
            lines.append(
                {
                    "student_id": name,
                    "assignment": lesson,
                    "submitted": "" if counts is None else in_words(counts.received),
                    "score": "" if counts is None else counts.mark,
                    "earned": "" if counts is None else counts.score,
                    "days_late": "" if counts is None else counts.late,
                    "max_score": "" if counts is None else counts.max_score,
                    "state": _state(standing),
                }
            )
    return lines


def _state(standing: AssignmentStanding) -> str:
    if standing.counting is not None:
        return "graded"
    if not standing.attempts:
        return "nothing handed in"
    return "waiting" if any(one.waits for one in standing.attempts) else "could not be graded"
