"""What instructors see: the class as it stands, everybody's attempts, requests, and what was done."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from cellcheck.errors import GraderError
from cellcheck.plain import cell
from cellcheck.serving import people
from cellcheck.serving.app import Asked, Door, route
from cellcheck.serving.queue import again, seed_of, waiting
from cellcheck.serving.standing import in_words, learners, marks, standings, standings_of
from cellcheck.serving.tables import FAILED, INSTRUCTOR, LEARNER, Event, Extension, Job, Person, Submission

MOST_EVENTS = 500
MOST_NAMES = 2_000


def overview(asked: Asked) -> Response:
    """The class: a line for each learner, a column for each assignment."""
    return _class(asked)


def _class(asked: Asked, links: dict[str, str] | None = None) -> Response:
    with asked.service.store.reading() as session:
        everybody = learners(session, LEARNER)
        return asked.page(
            "class",
            learners=everybody,
            standings=standings_of(session, asked.service.settings, [person.id for person in everybody]),
            assignments=asked.service.settings.assignments,
            waiting=waiting(session),
            failed=session.scalar(select(func.count(Job.id)).where(Job.state == FAILED)),
            requests=_requests(session),
            links=links or {},
        )


def _requests(session: Session) -> list[Submission]:
    asked_for = select(Submission).where(Submission.asked != "", Submission.answered == "").order_by(Submission.id)
    return list(session.scalars(asked_for))


def add(asked: Asked) -> Response:
    """New learners, a name a line; their links are shown once, here."""
    names = [line.strip() for line in asked.text("names", 200_000).splitlines() if line.strip()]
    if not names:
        raise GraderError("Write a name on each line.")
    if len(names) > MOST_NAMES:
        raise GraderError(f"Add at most {MOST_NAMES} at a time.")
    role = INSTRUCTOR if asked.text("role") == INSTRUCTOR else LEARNER
    links = {}
    with asked.service.store.writing() as session:
        for name in names:
            person = people.add(session, name, role)
            links[person.name] = asked.service.link(session, person)
            people.note(session, asked.who.name, f"added as {role}", person)
    return _class(asked, links)


def person_page(asked: Asked, link: str = "") -> Response:
    """Somebody: their attempts, their extensions."""
    with asked.service.store.reading() as session:
        person = _person(session, asked)
        return asked.page(
            "person", person=person, standings=standings(session, asked.service.settings, person.id), link=link
        )


def _person(session: Session, asked: Asked) -> Person:
    person = session.get(Person, asked.number("id"))
    if person is None:
        raise HTTPException(404, "There is nobody like that in the class.")
    return person


def new_link(asked: Asked) -> Response:
    """A sign-in link for somebody who lost theirs, or a device: the old one ends, and so do their sessions."""
    with asked.service.store.writing() as session:
        person = _person(session, asked)
        people.sign_out_everywhere(session, person)
        link = asked.service.link(session, person)
        people.note(session, asked.who.name, "made a new sign-in link", person)
    return person_page(asked, link)


def extend(asked: Asked) -> Response:
    """A due date of somebody's own; an empty one takes it back."""
    lesson, until = asked.text("lesson"), asked.text("until")
    if lesson not in asked.service.settings.assignments:
        raise HTTPException(404)
    with asked.service.store.writing() as session:
        person = _person(session, asked)
        session.execute(delete(Extension).where(Extension.person_id == person.id, Extension.lesson == lesson))
        if until:
            try:
                due = _in_utc(until)
            except ValueError as error:
                raise GraderError("Write the time as 2026-12-01T23:59; it is in UTC.") from error
            session.add(Extension(person_id=person.id, lesson=lesson, due=due))
        what = f"extended {lesson} to {in_words(due)}" if until else f"took the extension of {lesson} back"
        people.note(session, asked.who.name, what, person)
        return RedirectResponse(f"/class/{person.id}", 303)


def _in_utc(until: str) -> float:
    """The time in a form's field; a date alone, or a zone, is not what its label says."""
    time = datetime.fromisoformat(until)
    if "T" not in until or time.tzinfo is not None:
        raise ValueError(until)
    return time.replace(tzinfo=UTC).timestamp()


def remove(asked: Asked) -> Response:
    """Deletes somebody, with all that is kept about them."""
    with asked.service.store.writing() as session:
        person = _person(session, asked)
        if person.id == asked.who.id:
            raise GraderError("You can't delete yourself: another instructor can.")
        if people.as_kept(asked.text("name")) != person.name:
            raise GraderError(
                f"To delete {person.name}, with all submissions and marks, write that name into the field."
            )
        session.delete(person)
        session.execute(delete(Event).where(Event.who == person.name))
        people.note(session, asked.who.name, "deleted a person, with all that was kept about them")
    return RedirectResponse("/class", 303)


def regrade(asked: Asked) -> Response:
    """Grades a submission again, or all of an assignment, with the same hidden cases."""
    with asked.service.store.writing() as session:
        lesson, number = asked.text("lesson"), asked.text("submission")
        if number:
            one = session.get(Submission, int(number)) if number.isdecimal() and len(number) < 10 else None
            chosen = [one] if one is not None else []
        else:
            chosen = list(session.scalars(select(Submission).where(Submission.lesson == lesson)))
        if not chosen:
            raise GraderError("There is nothing to grade again.")
        for submission in chosen:
            again(session, submission, seed_of(session, submission.lesson))
        what = f"submission {number}" if number else f"all {len(chosen)} submissions of {lesson}"
        people.note(session, asked.who.name, f"had {what} graded again", chosen[0].person if number else None)
        return RedirectResponse(f"/submissions/{number}" if number else "/class", 303)


def answer(asked: Asked) -> Response:
    """Answers a request for another look."""
    words = asked.words("answer")
    if not words:
        raise GraderError("Write an answer first.")
    with asked.service.store.writing() as session:
        submission = session.get(Submission, asked.number("id"))
        if submission is None or not submission.asked:
            raise HTTPException(404)
        submission.answered = words
        people.note(session, asked.who.name, "answered a request", submission.person)
        return RedirectResponse(f"/submissions/{submission.id}", 303)


def marks_csv(asked: Asked) -> Response:
    """The marks that count, as a table."""
    with asked.service.store.reading() as session:
        names = {person.id: person.name for person in learners(session, LEARNER)}
        lines = marks(session, asked.service.settings, names)
    text = io.StringIO()
    if lines:
        writer = csv.writer(text)
        writer.writerow(lines[0])
        writer.writerows([cell(str(value)) for value in line.values()] for line in lines)
    headers = {"Content-Disposition": 'attachment; filename="marks.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def events(asked: Asked) -> Response:
    """The audit log, the latest first."""
    with asked.service.store.reading() as session:
        shown = list(session.scalars(select(Event).order_by(Event.id.desc()).limit(MOST_EVENTS)))
        return asked.page("log", events=shown)


def tidy(session: Session, now: float, keep_events: float = 365 * people.DAY) -> None:
    """Deletes what has served its time: keys that no longer work, and events after a year."""
    people.forget_ended(session, now)
    session.execute(delete(Event).where(Event.at < now - keep_events))


ROUTES = (
    route("/class", overview, Door.teachers),
    route("/class/people", add, Door.teachers, "POST"),
    route("/class/marks.csv", marks_csv, Door.teachers),
    route("/class/log", events, Door.teachers),
    route("/class/regrade", regrade, Door.teachers, "POST"),
    route("/class/{id:number}", person_page, Door.teachers),
    route("/class/{id:number}/link", new_link, Door.teachers, "POST"),
    route("/class/{id:number}/extend", extend, Door.teachers, "POST"),
    route("/class/{id:number}/delete", remove, Door.teachers, "POST"),
    route("/class/requests/{id:number}", answer, Door.teachers, "POST"),
)
