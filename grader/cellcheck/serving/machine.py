"""What programs ask: `submit()` in a notebook hands in with a token, and looks how it went."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response

from cellcheck.serving.app import Asked, Door, route
from cellcheck.serving.learner_pages import own, take_in
from cellcheck.serving.standing import latest, standings


def submit(asked: Asked) -> Response:
    """The body is the notebook. 201 for a new submission, 200 for one that was there."""
    number, new = take_in(asked.service, asked.who, asked.request.path_params["lesson"], asked.body)
    return JSONResponse(_shown(asked, number), 201 if new else 200)


def look(asked: Asked) -> Response:
    """How a submission stands."""
    with asked.service.store.reading() as session:
        own(session, asked)
    return JSONResponse(_shown(asked, asked.number("id")))


def _shown(asked: Asked, number: int) -> dict[str, object]:
    from cellcheck.serving.tables import Submission

    with asked.service.store.reading() as session:
        there = session.get_one(Submission, number)
        standing = standings(session, asked.service.settings, there.person_id)[there.lesson]
        handed = next(one for one in standing.attempts if one.id == number)
        result = latest(there).result
        exercises = [
            {key: exercise[key] for key in ("symbol", "score", "max_score", "status", "message")}
            for exercise in (json.loads(result)["exercises"] if result else [])
        ]
    return {
        "submission": number,
        "lesson": standing.rules.lesson,
        "page": f"{asked.service.address}/submissions/{number}",
        "state": handed.state,
        "ahead": handed.ahead,
        "score": handed.score,
        "max_score": handed.max_score,
        "days_late": handed.late,
        "mark": handed.mark,
        "counts": handed.counts,
        "message": handed.message,
        "exercises": exercises,
        "attempts_left": standing.left,
    }


ROUTES = (
    route("/api/assignments/{lesson}", submit, Door.programs, "POST", reads="body"),
    route("/api/submissions/{id:number}", look, Door.programs),
)
