"""What learners see: their assignments, what came of each attempt, their tokens, and all that is kept about them."""

from __future__ import annotations

import json
import time
from importlib.resources import files

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cellcheck.collecting.one_notebook import notebook_in
from cellcheck.errors import GraderError
from cellcheck.serving import people
from cellcheck.serving.app import MOST_BYTES, Asked, Door, Service, route
from cellcheck.serving.people import Visitor
from cellcheck.serving.queue import accept, seed_of
from cellcheck.serving.settings import Rules
from cellcheck.serving.standing import AssignmentStanding, latest, standings
from cellcheck.serving.tables import TOKEN, Event, Key, Person, Submission

FEEDBACK_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
}
"""Of pages that show what learners wrote: no script runs there, and nothing is asked for."""


def home(asked: Asked) -> Response:
    """The assignments, or how to come in."""
    if asked.visitor is None:
        return asked.page("welcome")
    if asked.visitor.teaches:
        return RedirectResponse("/class", 303)
    with asked.service.store.reading() as session:
        return asked.page("home", standings=standings(session, asked.service.settings, asked.who.id))


def ask_to_sign_in(asked: Asked) -> Response:
    """A button: whatever follows links by itself, as mail programs do, uses none up."""
    return asked.page("sign_in", secret=asked.request.path_params["secret"])


def sign_in(asked: Asked) -> Response:
    """The link opens a session."""
    address = asked.request.client.host if asked.request.client else ""
    with asked.service.store.writing() as session:
        secret = people.use_link(session, asked.request.path_params["secret"])
        if secret is not None:
            people.sign_out(session, asked.request.cookies.get(asked.service.cookie, ""))
    if secret is None:
        if not asked.service.knocks.allows(address):
            raise HTTPException(429, headers={"Retry-After": "60"})
        raise HTTPException(401, "This link was used already, or is too old. Ask your instructor for a new one.")
    return asked.service.let_in(RedirectResponse("/", 303), secret)


def sign_out(asked: Asked) -> Response:
    """Ends the session, here and in the browser."""
    with asked.service.store.writing() as session:
        people.sign_out(session, asked.request.cookies.get(asked.service.cookie, ""))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(asked.service.cookie, path="/", secure=asked.service.secure, httponly=True, samesite="lax")
    return answer


def assignment(asked: Asked) -> Response:
    """An assignment: where to drop a notebook, and what came of those before."""
    rules = _rules(asked.service, asked.request.path_params["lesson"])
    with asked.service.store.reading() as session:
        standing = standings(session, asked.service.settings, asked.who.id)[rules.lesson]
        return asked.page("assignment", standing=standing, rules=rules, site=asked.service.address)


def upload(asked: Asked) -> Response:
    """A notebook is dropped in, or the file that `submit()` makes of one."""
    lesson = _rules(asked.service, asked.request.path_params["lesson"]).lesson
    file = asked.form.get("notebook")
    if not isinstance(file, UploadFile) or not file.filename:
        raise HTTPException(400, "Choose a notebook first: a file that ends in .ipynb, or in .submission.zip.")
    data = file.file.read(MOST_BYTES + 1)
    submission, _ = take_in(asked.service, asked.who, lesson, data)
    return RedirectResponse(f"/submissions/{submission}", 303)


def take_in(service: Service, who: Visitor, lesson: str, data: bytes) -> tuple[int, bool]:
    """Takes a notebook in, from a page or a program; gives back its number, and whether it is new.

    A zip file is opened, but nothing of the notebook is parsed here: that happens in a process of its own, when it is
    graded.

    Raises:
        GraderError: when the assignment is closed, or there are no attempts left today.
    """
    arrived = time.time()  # waiting for the database makes nobody late
    rules = _rules(service, lesson)
    if not data.strip():
        raise GraderError("The file is empty: save the notebook, then hand it in.")
    if not service.uploads.allows(str(who.id)):
        raise HTTPException(429, headers={"Retry-After": "60"})
    data = notebook_in(data)
    with service.store.writing() as session:
        # The row is locked, so that two uploads at the same moment don't both see the last attempt free.
        there = session.execute(update(Person).where(Person.id == who.id).values(made=Person.made))
        if not there.rowcount:  # type: ignore[attr-defined]  # deleted since they were let in
            raise HTTPException(401)
        standing = standings(session, service.settings, who.id, arrived)[rules.lesson]
        submission, new = accept(session, who.id, rules.lesson, data, seed_of(session, rules.lesson), arrived)
        if new:
            _refuse_if_over(standing)
        session.flush()
        return submission.id, new


def _refuse_if_over(standing: AssignmentStanding) -> None:
    if not standing.open:
        raise GraderError(f"{standing.rules.title} is closed. Ask your instructor for an extension.")
    if not standing.left:
        raise GraderError(
            f"You have handed in {standing.rules.attempts_per_day} times in 24 hours, which is all there is. "
            "Check your work in the notebook, and try again later."
        )


def submission(asked: Asked) -> Response:
    """What came of an attempt; while it waits, where it stands in the queue."""
    with asked.service.store.reading() as session:
        there = own(session, asked)
        standing = standings(session, asked.service.settings, there.person_id)[there.lesson]
        shown = next(one for one in standing.attempts if one.id == there.id)
        return asked.page(
            "submission", standing=standing, handed=shown, rules=standing.rules, learner=there.person.name
        )


def own(session: Session, asked: Asked) -> Submission:
    """The submission in the address: a learner's own, or for an instructor anybody's.

    Raises:
        HTTPException: as if it weren't there, for everybody else.
    """
    there = session.get(Submission, asked.number("id"))
    if there is None or (there.person_id != asked.who.id and not asked.who.teaches):
        raise HTTPException(404)
    if there.lesson not in asked.service.settings.assignments:
        raise HTTPException(404, "This lesson isn't handed in any more.")
    return there


def feedback(asked: Asked) -> Response:
    """The page that `cellcheck autograde` makes."""
    with asked.service.store.reading() as session:
        page = latest(own(session, asked)).page
    if not page:
        raise HTTPException(404, "It isn't graded yet.")
    return HTMLResponse(page, headers=FEEDBACK_HEADERS)


def notebook(asked: Asked) -> Response:
    """The file, as it was handed in."""
    with asked.service.store.reading() as session:
        there = own(session, asked)
        headers = {
            "Content-Disposition": f'attachment; filename="{there.lesson}.{there.id}.ipynb"',
            "Content-Security-Policy": "sandbox",
        }
        return Response(there.notebook, media_type="application/octet-stream", headers=headers)


def choose(asked: Asked) -> Response:
    """A learner chooses the attempt that counts, graded or still waiting."""
    with asked.service.store.writing() as session:
        there = _mine(session, asked)
        if asked.service.settings.assignments[there.lesson].counts != "chosen":
            raise GraderError("In this assignment there is nothing to choose.")
        theirs = (Submission.person_id == there.person_id) & (Submission.lesson == there.lesson)
        session.execute(update(Submission).where(theirs).values(chosen=Submission.id == there.id))
        return RedirectResponse(f"/assignments/{there.lesson}", 303)


def ask(asked: Asked) -> Response:
    """A learner asks for another look."""
    words = asked.words("why")
    if not words:
        raise GraderError("Say in a sentence what should be looked at again.")
    with asked.service.store.writing() as session:
        there = _mine(session, asked)
        there.asked, there.answered = words, ""
        return RedirectResponse(f"/submissions/{there.id}", 303)


def _mine(session: Session, asked: Asked) -> Submission:
    there = own(session, asked)
    if there.person_id != asked.who.id:
        raise HTTPException(404)
    return there


def me(asked: Asked, new: str = "", link: str = "") -> Response:
    """Somebody's tokens, and what is kept about them."""
    with asked.service.store.reading() as session:
        tokens = people.tokens(session, asked.who.id)
        return asked.page("me", tokens=tokens, new=new, link=link, site=asked.service.address)


def make_token(asked: Asked) -> Response:
    """A token for `submit()`; this answer is the only place where it is ever shown."""
    with asked.service.store.writing() as session:
        new = people.make_key(session, session.get_one(Person, asked.who.id), TOKEN)
    return me(asked, new)


def make_link(asked: Asked) -> Response:
    """A sign-in link for another browser, or the next time."""
    with asked.service.store.writing() as session:
        link = asked.service.link(session, session.get_one(Person, asked.who.id))
    return me(asked, link=link)


def revoke(asked: Asked) -> Response:
    """Takes a token out of force."""
    with asked.service.store.writing() as session:
        if not people.revoke(session, asked.who.id, asked.number("id")):
            raise HTTPException(404)
    return RedirectResponse("/me", 303)


def export(asked: Asked) -> Response:
    """All that is kept about somebody, as JSON."""
    with asked.service.store.reading() as session:
        record = kept_about(session, asked.who.id)
    headers = {"Content-Disposition": 'attachment; filename="kept-about-me.json"'}
    return Response(json.dumps(record, indent=1), media_type="application/json", headers=headers)


def kept_about(session: Session, person: int) -> dict[str, object]:
    """All that is kept about somebody. Keys are there without what opens the door: only digests are kept."""
    from cellcheck.serving.lti_pages import kept_for

    somebody = session.get_one(Person, person)
    return {
        "name": somebody.name,
        "role": somebody.role,
        "since": somebody.made,
        "platforms": kept_for(session, person),
        "keys": [{"kind": key.kind, "made": key.made, "ends": key.ends, "used": key.used} for key in somebody.keys],
        "extensions": [{"lesson": one.lesson, "due": one.due} for one in somebody.extensions],
        "submissions": [
            {
                "lesson": one.lesson,
                "received": one.received,
                "notebook": one.notebook.decode("utf-8", "replace"),
                "chosen": one.chosen,
                "asked": one.asked,
                "answered": one.answered,
                "graded": [
                    {"state": job.state, "score": job.score, "max_score": job.max_score, "message": job.message}
                    | {"result": json.loads(job.result) if job.result else None, "page": job.page}
                    for job in one.jobs
                ],
            }
            for one in somebody.submissions
        ],
        "events": [
            {"at": event.at, "who": event.who, "what": event.what}
            for event in session.scalars(
                select(Event).where(or_(Event.who == somebody.name, Event.about_id == person)).order_by(Event.id)
            )
        ],
    }


def alive(asked: Asked) -> Response:
    """For whatever watches the service: it answers, and so does its database."""
    with asked.service.store.reading() as session:
        session.execute(select(Key.id).limit(1))
    return Response("ok", media_type="text/plain")


def live(asked: Asked) -> Response:
    """The script that spares people the reloading."""
    script = (files("cellcheck.serving") / "templates" / "live.js").read_text("utf-8")
    return Response(script, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": "max-age=3600"})


def _rules(service: Service, lesson: str) -> Rules:
    rules = service.settings.assignments.get(lesson)
    if rules is None:
        raise HTTPException(404, "There is no such assignment in this class.")
    return rules


ROUTES = (
    route("/", home, Door.everybody),
    route("/alive", alive, Door.everybody),
    route("/live.js", live, Door.everybody),
    route("/sign-in/{secret}", ask_to_sign_in, Door.everybody),
    route("/sign-in/{secret}", sign_in, Door.everybody, "POST"),
    route("/sign-out", sign_out, Door.signed_in, "POST"),
    route("/assignments/{lesson}", assignment, Door.signed_in),
    route("/assignments/{lesson}", upload, Door.signed_in, "POST"),
    route("/submissions/{id:number}", submission, Door.signed_in),
    route("/submissions/{id:number}/feedback", feedback, Door.signed_in),
    route("/submissions/{id:number}/notebook", notebook, Door.signed_in),
    route("/submissions/{id:number}/choose", choose, Door.signed_in, "POST"),
    route("/submissions/{id:number}/ask", ask, Door.signed_in, "POST"),
    route("/me", me, Door.signed_in),
    route("/me/link", make_link, Door.signed_in, "POST"),
    route("/me/tokens", make_token, Door.signed_in, "POST"),
    route("/me/tokens/{id:number}/revoke", revoke, Door.signed_in, "POST"),
    route("/me/export", export, Door.signed_in),
)
