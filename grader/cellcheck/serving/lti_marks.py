"""Marks go back to where somebody came from: a thread of the service tells each platform what is new, until it knows.

What was told last stands in the table, and is written after it has arrived: whatever is killed when, the next round
finds what is missing. A platform may so hear the same twice, which does no harm.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.service_connector import ServiceConnector
from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from cellcheck.checking.cards import worth
from cellcheck.checking.judge import PASSED
from cellcheck.plain import visible
from cellcheck.serving.lti import SCORE, Calls, Tool, as_json
from cellcheck.serving.lti_tables import Destination, Identity, Platform
from cellcheck.serving.settings import Settings
from cellcheck.serving.standing import AssignmentStanding, Handed, latest, standings
from cellcheck.serving.store import Store
from cellcheck.serving.tables import QUEUED, RUNNING, Extension, Job, Submission

log = logging.getLogger("cellcheck.serving")
REST_SECONDS = 3.0
"""Between two rounds."""
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 900.0
"""After a failure; it doubles each time."""
LONGEST_MESSAGE = 300
_NO_MARKUP = {
    ord("<"): "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
    ord(">"): "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
}


@dataclass(frozen=True)
class News:
    """A destination whose submissions stand otherwise than when it was told last."""

    destination: int
    lesson: str
    platform: int
    person: int
    stands: str


class Teller:
    """Tells platforms about marks."""

    def __init__(
        self, store: Store, settings: Settings, address: str, tool: Tool, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._settings, self._address, self._tool = store, settings, address.rstrip("/"), tool
        self._clock = clock
        self._resting: dict[int, tuple[int, float]] = {}
        """Platforms that don't answer: how often in a row, and until when they are left alone."""
        self._connectors: dict[tuple[str, ...], _Connector] = {}

    def run(self, over: threading.Event) -> None:
        """Rounds, until it is over."""
        while not over.wait(REST_SECONDS):
            try:
                self.round()
            except Exception as error:  # a database that is busy, say: the next round does it
                log.error("marks could not be told: %s", type(error).__name__)

    def round(self) -> int:
        """Tells what is new; gives back how much arrived."""
        with self._store.reading() as session:
            news = [one for one in self._news(session) if self._rested(one.platform)]
        arrived = 0
        for one in news:
            if self._rested(one.platform):
                try:
                    arrived += self._tell(one)
                except Exception as error:  # must not cost the others their marks
                    log.error("a mark could not be told: %s", type(error).__name__)
        return arrived

    def _rested(self, platform: int) -> bool:
        return self._resting.get(platform, (0, 0.0))[1] <= self._clock()

    def _news(self, session: Session) -> list[News]:
        """One question to the database for everybody: it is asked every few seconds."""
        waits = func.sum(case((Job.state.in_((QUEUED, RUNNING)), 1), else_=0))
        asked = (
            select(
                Destination.id,
                Destination.lesson,
                Destination.seen,
                Identity.platform_id,
                Identity.person_id,
                func.count(Job.id),
                waits,
                func.max(Job.finished),
                func.max(case((Submission.chosen, Submission.id), else_=0)),
                func.max(Extension.due),
            )
            .join(Identity, Destination.identity_id == Identity.id)
            .join(
                Submission,
                (Submission.person_id == Identity.person_id) & (Submission.lesson == Destination.lesson),
            )
            .join(Job, Job.submission_id == Submission.id)
            .outerjoin(
                Extension, (Extension.person_id == Identity.person_id) & (Extension.lesson == Destination.lesson)
            )
            .where(Destination.retry_at <= self._clock())
            .group_by(Destination.id, Identity.id)
            .order_by(Destination.tries, Destination.id)
        )
        news = []
        for number, lesson, seen, platform, person, *counts in session.execute(asked):
            rules = self._settings.assignments.get(lesson)
            stands = as_json([*counts, repr(rules)])
            if rules is not None and stands != seen:
                news.append(News(number, lesson, platform, person, stands))
        return news

    def _tell(self, one: News) -> bool:
        with self._store.reading() as session:
            there, platform = session.get(Destination, one.destination), session.get(Platform, one.platform)
            if there is None or platform is None:
                return False
            subject = there.identity.subject
            score = score_of(session, self._settings, self._address, one.person, one.lesson)
        text = as_json(score)
        if text != there.told:
            try:
                self._send(platform, there.line_item, subject, score)
            except Exception as error:  # of theirs or of the network: it is tried again
                self._failed(one, there.tries, error)
                return False
            self._resting.pop(one.platform, None)
        self._write(one, told=text, told_at=self._clock(), seen=one.stands, tries=0, retry_at=0.0, error="")
        return text != there.told

    def _send(self, platform: Platform, line_item: str, subject: str, score: dict[str, Any]) -> None:
        key = (platform.issuer, platform.client, platform.token_url, platform.audience)
        connector = self._connectors.get(key)
        if connector is None:
            connector = _Connector(self._tool.registration(platform), Calls(self._address.startswith("http:")))
            self._connectors[key] = connector
        grade = Grade().set_user_id(subject).set_timestamp(_time(self._clock())).set_extra_claims(score)
        try:
            service = AssignmentsGradesService(connector, cast(Any, {"scope": [SCORE], "lineitem": line_item}))
            service.put_grade(grade)
        except requests.exceptions.JSONDecodeError:
            pass  # it was taken: what the platform says to that needn't be JSON
        except Exception:
            connector.forget()
            raise

    def _failed(self, one: News, tries: int, error: Exception) -> None:
        status = error.response.status_code if isinstance(error, LtiServiceException | _NoToken) else 0
        reason = (
            f"the platform answered {status}" if status else f"the platform did not answer ({type(error).__name__})"
        )
        log.warning("a mark did not arrive: %s", reason)
        now = self._clock()
        of_the_item = 400 <= status < 500 and status not in (401, 429) and not isinstance(error, _NoToken)
        if not of_the_item:  # of the platform, it seems: it is left alone for a while
            times = self._resting.get(one.platform, (0, 0.0))[0]
            self._resting[one.platform] = times + 1, now + _pause(times)
        # In any case this one waits, so that it is another's turn: a line item that is gone holds nobody up.
        self._write(one, tries=tries + 1, retry_at=now + _pause(tries), error=reason)

    def _write(self, one: News, **values: object) -> None:
        with self._store.writing() as session:
            there = session.get(Destination, one.destination)
            for name, value in values.items() if there is not None else ():
                setattr(there, name, value)


class _NoToken(Exception):
    """The platform lets us say nothing at all: it has removed us, say."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__("no token")
        self.response = response


class _Connector(ServiceConnector):
    """The library's, with its tokens remembered for as long as they work."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._tokens: dict[str, tuple[str, float]] = {}

    def get_access_token(self, scopes: Sequence[str]) -> str:
        """The library's; what goes wrong here concerns everybody's marks."""
        try:
            return str(super().get_access_token(scopes))
        except LtiServiceException as error:
            raise _NoToken(error.response) from error

    def forget(self) -> None:
        """After a failure: perhaps a token no longer works."""
        self._tokens.clear()

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        token, ends = self._tokens.get(scope_key, ("", 0.0))
        return token if ends > time.monotonic() else None

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: object) -> None:
        try:
            lasts = float(str(expires_in))  # some write it as a text
        except ValueError:
            lasts = 0.0
        self._tokens[scope_key] = access_token, time.monotonic() + lasts - 60


def _pause(times: int) -> float:
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times, 20))


def _time(seconds: float) -> str:
    """With its fractions: platforms drop what isn't later than the last."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def score_of(session: Session, settings: Settings, address: str, person: int, lesson: str) -> dict[str, Any]:
    """What a platform should know of somebody's lesson: the mark that counts, or that there will be one.

    A mark that counts stands until there is another one: "Pending" would take it away, as Moodle reads that.
    """
    standing = standings(session, settings, person)[lesson]
    counts, last = standing.counting, standing.attempts[0]
    waits = counts is None and any(one.waits for one in standing.attempts)
    progress = "FullyGraded" if counts else "Pending" if waits else "Failed"
    score: dict[str, Any] = {"activityProgress": "Submitted", "gradingProgress": progress}
    if counts is not None:
        score |= {"scoreGiven": counts.mark, "scoreMaximum": counts.max_score}
    shown = counts or last
    score["submission"] = {"submittedAt": _time(shown.received)}
    if not waits:
        sentence = _failure(shown) if counts is None else _diagnosis(session, standing, counts)
        page = f"{address}/submissions/{shown.id}"
        # Some platforms take a comment for HTML: what learners' code says must not become any.
        score["comment"] = f"{sentence} {page}".strip().translate(_NO_MARKUP)
    return score


def _failure(one: Handed) -> str:
    return f"It could not be graded. {visible(one.message, LONGEST_MESSAGE)}"


def _diagnosis(session: Session, standing: AssignmentStanding, counts: Handed) -> str:
    """In a sentence or two: how much is right, what to look at next, and what being late took off."""
    result = latest(session.get_one(Submission, counts.id)).result
    exercises = json.loads(result)["exercises"] if result else []
    sentences = []
    if exercises:
        right = sum(one["status"] == PASSED for one in exercises)
        sentences.append(f"{right} of {len(exercises)} exercises are right.")
    wrong = next((one for one in exercises if one["status"] not in (PASSED, "missing")), None)
    if wrong is not None:
        message = " ".join(str(wrong["message"]).split())
        sentences.append(f"{wrong['symbol']}: {visible(message, LONGEST_MESSAGE)}")
    if counts.late and counts.score != counts.mark:
        days = f"{counts.late} day{'s' if counts.late != 1 else ''}"
        sentences.append(f"{worth(counts.score or 0.0)} before {days} late were taken off.")
    return " ".join(sentences)
