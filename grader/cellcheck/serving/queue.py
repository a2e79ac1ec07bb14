"""Accepted work, until it is graded: a row per submission and seed, leased to one worker at a time.

A lease is renewed while its worker lives. When it runs out, the work is anybody's again, so that no process that is
killed takes anything along; and what a worker brings after it has lost its lease is not written. So every job has one
result, whoever dies when.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cellcheck.errors import GraderError
from cellcheck.serving.store import Store
from cellcheck.serving.tables import DONE, FAILED, QUEUED, RUNNING, Job, Seed, Submission

LEASE_SECONDS = 60.0
MOST_TRIES = 3
"""Work that ended its worker so often is given up: whatever it is, it won't be better the next time."""
MOST_WAITING = 5_000
GIVEN_UP = "Grading this was interrupted three times, so it was put aside. Your instructor sees that too."


class Full(GraderError):
    """There is no room for more; the sentence says when to come back."""


@dataclass(frozen=True)
class Leased:
    """Work that a worker has."""

    job: int
    lease: str
    lesson: str
    who: str
    seed: int
    notebook: bytes


def accept(
    session: Session, person: int, lesson: str, notebook: bytes, seed: int, now: float | None = None
) -> tuple[Submission, bool]:
    """Takes a notebook in; when this returns and the session is committed, it can't be lost.

    Returns:
        The submission, and whether it is new: the same bytes are the same submission.

    Raises:
        Full: when too much is waiting.
    """
    digest = hashlib.sha256(notebook).hexdigest()
    earlier = _known(session, person, lesson, digest)
    if earlier is not None:
        return earlier, False
    if waiting(session) >= MOST_WAITING:
        raise Full("More is waiting to be graded than fits. Nothing was taken in: try again in ten minutes.")
    submission = Submission(
        person_id=person,
        lesson=lesson,
        digest=digest,
        received=time.time() if now is None else now,
        notebook=notebook,
        jobs=[Job(seed=seed)],
    )
    try:
        with session.begin_nested():
            session.add(submission)
    except IntegrityError:  # the same, twice at the same moment
        earlier = _known(session, person, lesson, digest)
        assert earlier is not None
        return earlier, False
    return submission, True


def _known(session: Session, person: int, lesson: str, digest: str) -> Submission | None:
    return session.scalar(select(Submission).filter_by(person_id=person, lesson=lesson, digest=digest))


def seed_of(session: Session, lesson: str) -> int:
    """The seed of a lesson's hidden cases; the first who asks draws it."""
    row = session.get(Seed, lesson)
    if row is None:
        row = Seed(lesson=lesson, seed=secrets.randbits(32))
        try:
            with session.begin_nested():
                session.add(row)
        except IntegrityError:  # two were the first
            row = session.get_one(Seed, lesson)
    return row.seed


def waiting(session: Session) -> int:
    """How much is not graded yet."""
    return session.scalar(select(func.count(Job.id)).where(Job.state.in_((QUEUED, RUNNING)))) or 0


def in_line(session: Session) -> Sequence[int]:
    """The jobs that are not graded yet, in their order."""
    return session.scalars(select(Job.id).where(Job.state.in_((QUEUED, RUNNING))).order_by(Job.id)).all()


def again(session: Session, submission: Submission, seed: int) -> Job:
    """Puts a submission into the queue once more, to be graded with this seed even if it has been before.

    One that is being graded at this moment starts over: what its worker brings is no longer written.
    """
    job = next((job for job in submission.jobs if job.seed == seed), None)
    if job is None:
        job = Job(seed=seed)
        submission.jobs.append(job)
    elif job.state != QUEUED:
        job.state, job.tries, job.lease, job.leased_until = QUEUED, 0, "", 0.0
    return job


class Queue:
    """The queue, as a worker sees it."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time, worker: str = "") -> None:
        self._store = store
        self._clock = clock
        self._worker = worker or secrets.token_hex(8)

    def take(self) -> Leased | None:
        """The oldest work that nobody has; None where there is none."""
        while True:
            with self._store.writing() as session:
                now = self._clock()
                # No lease is so long as twice its time: one that seems to be was made before the clock was put back.
                over = or_(Job.leased_until < now, Job.leased_until > now + 2 * LEASE_SECONDS)
                free = or_(Job.state == QUEUED, (Job.state == RUNNING) & over)
                job = session.scalar(
                    select(Job).where(free).order_by(Job.id).limit(1).with_for_update(skip_locked=True)
                )
                if job is None:
                    return None
                if job.tries >= MOST_TRIES:
                    job.state, job.message, job.finished = FAILED, GIVEN_UP, now
                    continue
                job.state, job.tries = RUNNING, job.tries + 1
                job.lease, job.leased_until = f"{self._worker}/{secrets.token_hex(8)}", now + LEASE_SECONDS
                submission = job.submission
                return Leased(
                    job.id, job.lease, submission.lesson, submission.person.name, job.seed, submission.notebook
                )

    def renew(self, work: Leased) -> bool:
        """Whether the work is still this worker's; then for as long again."""
        return self._write(work, leased_until=self._clock() + LEASE_SECONDS)

    def finish(self, work: Leased, score: float, max_score: float, result: str, page: str) -> bool:
        """Writes what came of it; False where it has become somebody else's."""
        return self._write(
            work,
            state=DONE,
            finished=self._clock(),
            score=score,
            max_score=max_score,
            result=result,
            page=page,
            message="",
        )

    def fail(self, work: Leased, message: str, page: str) -> bool:
        """Writes why it can't be graded. A mark that it had before stands, with its page."""
        standing_page = case((Job.score.is_(None), page), else_=Job.page)
        return self._write(work, state=FAILED, finished=self._clock(), message=message, page=standing_page)

    def free(self) -> int:
        """Frees what this worker had: it is known to be dead, so that nobody has to wait for its leases to run out."""
        with self._store.writing() as session:
            theirs = Job.lease.startswith(f"{self._worker}/", autoescape=True) & (Job.state == RUNNING)
            freed = session.execute(update(Job).where(theirs).values(leased_until=0.0, lease=""))
            return int(freed.rowcount)  # type: ignore[attr-defined]

    def _write(self, work: Leased, **values: object) -> bool:
        with self._store.writing() as session:
            done = session.execute(
                update(Job).where(Job.id == work.job, Job.lease == work.lease, Job.state == RUNNING).values(**values)
            )
            return bool(done.rowcount)  # type: ignore[attr-defined]
