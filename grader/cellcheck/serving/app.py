"""The service as a web application: who may go where, and what every answer carries.

Each route says who may use it (`Door`); a test walks all of them in the role of everybody who shouldn't be there.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import FormData, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cellcheck.errors import GraderError
from cellcheck.plain import visible_lines
from cellcheck.serving import people
from cellcheck.serving.pages import render
from cellcheck.serving.people import Visitor
from cellcheck.serving.queue import Full
from cellcheck.serving.settings import Settings
from cellcheck.serving.store import Store
from cellcheck.serving.tables import LINK, SESSION, TOKEN, Person

log = logging.getLogger("cellcheck.serving")
MOST_BYTES = 20 * 2**20
"""Of a request of somebody whom we know."""
FROM_STRANGERS = 64 * 2**10
"""Of anybody else's: a form with a button."""
MOST_HELD = 512 * 2**20
"""Of all requests that are coming in: what a class of three hundred needs several times over."""
SLOWEST = 30.0
"""Seconds between two pieces of a request; a connection on which nothing comes would be held for ever."""
KNOWN = "cellcheck.known"
"""In the scope of a request, once it is known whose it is."""
MOST_FIELDS = 50
COOKIE = "session"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; "
    "script-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class _Number(IntegerConvertor):
    """A number in an address: of a row, and no longer than a database's numbers are."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())


class Door(Enum):
    """Who may use a route."""

    everybody = "everybody"
    signed_in = "whoever has signed in"
    teachers = "instructors"
    programs = "a program with a token"


class Limiter:
    """So many times in so many seconds, for each who asks. It forgets those who stopped asking."""

    def __init__(self, times: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.times, self.seconds, self._clock = times, seconds, clock
        self._asked: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()  # handlers run in several threads

    def allows(self, who: str) -> bool:
        """Whether somebody may ask once more; if so, that is counted."""
        with self._lock:
            return self._allows(who)

    def _allows(self, who: str) -> bool:
        now = self._clock()
        if len(self._asked) > 10_000:
            self._asked = defaultdict(
                deque, {name: times for name, times in self._asked.items() if times[-1] > now - self.seconds}
            )
        asked = self._asked[who]
        while asked and asked[0] <= now - self.seconds:
            asked.popleft()
        if len(asked) >= self.times:
            return False
        asked.append(now)
        return True


@dataclass
class Service:
    """What all routes share."""

    store: Store
    settings: Settings
    address: str
    """Where people reach it: what links begin with, whatever a request says of its host."""
    folder: Path | None = None
    """Where the private key for platforms is."""
    knocks: Limiter = field(default_factory=lambda: Limiter(30, 60.0))
    """Keys that don't work, by address."""
    uploads: Limiter = field(default_factory=lambda: Limiter(30, 60.0))
    """Files, by person."""

    @property
    def secure(self) -> bool:
        """Whether people come by https: cookies then go no other way."""
        return self.address.startswith("https://")

    def let_in(self, answer: Response, secret: str) -> Response:
        """The answer, with the cookie of a session in it."""
        answer.set_cookie(
            self.cookie,
            secret,
            max_age=max(people.SESSION_LASTS.values()),
            path="/",
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )
        return answer

    @property
    def cookie(self) -> str:
        """The session cookie's name: with its prefix, browsers take it from this host by https alone."""
        return f"__Host-{COOKIE}" if self.secure else COOKIE

    def visitor(self, secret: str, kind: str) -> Visitor | None:
        """Whose key it is. That is read, and waits for nobody who writes; that it was used is noted now and then."""
        with self.store.reading() as session:
            visitor = people.who(session, secret, kind)
        if visitor is not None and not visitor.noted:
            with self.store.writing() as session:
                people.note_use(session, secret)
        return visitor

    def link(self, session: Session, person: Person) -> str:
        """A new sign-in link, to be shown once."""
        return f"{self.address}/sign-in/{people.make_key(session, person, LINK)}"


@dataclass(frozen=True)
class Asked:
    """A request, read, for a handler that needs not be asynchronous."""

    service: Service
    visitor: Visitor | None
    request: Request
    form: FormData
    body: bytes

    @property
    def who(self) -> Visitor:
        """Who asks, where the door lets nobody else in."""
        assert self.visitor is not None
        return self.visitor

    def text(self, name: str, most: int = 2_000) -> str:
        """A field of the form."""
        value = self.form.get(name, "")
        if not isinstance(value, str) or len(value) > most:
            raise HTTPException(400, f"{name} should be a text of at most {most} characters.")
        return value.strip()

    def words(self, name: str) -> str:
        """A field that people will read: in lines, and without what can't be seen (or, as NUL, not be kept)."""
        return visible_lines("\n".join(self.text(name).splitlines()))

    def number(self, name: str) -> int:
        """A number in the address."""
        return int(self.request.path_params[name])

    def page(self, name: str, status: int = 200, **values: Any) -> Response:
        """A page of ours."""
        return render(name, status, visitor=self.visitor, title=self.service.settings.title, **values)


Handler = Callable[[Asked], Response]


def route(path: str, handler: Handler, door: Door, method: str = "GET", reads: str = "form") -> Route:
    """A route that lets in whom its door says; `reads` is what it takes of a POST: a "form", or the "body" as it is."""

    async def endpoint(request: Request) -> Response:
        service: Service = request.app.state.service
        visitor, secret = await run_in_threadpool(_visitor, service, request, door)
        if door is Door.teachers and visitor is not None and not visitor.teaches:
            raise HTTPException(404)  # what is there for instructors is nobody else's business
        if visitor is not None:
            request.scope[KNOWN] = True
        form, body = FormData(), b""
        if method == "POST" and reads == "form":
            form = await request.form(max_files=1, max_fields=MOST_FIELDS)
            _check_form(request, form, visitor if secret else None)
        elif method == "POST":
            body = await request.body()
        try:
            return await run_in_threadpool(handler, Asked(service, visitor, request, form, body))
        finally:
            await form.close()

    entrance = Route(path, endpoint, methods=[method], name=f"{method} {path}")
    entrance.door = door  # type: ignore[attr-defined]  # read by the test that knocks at all of them
    return entrance


def _visitor(service: Service, request: Request, door: Door) -> tuple[Visitor | None, str]:
    """Who asks, and the secret of their session.

    Raises:
        HTTPException: when nobody may come in like that.
    """
    if door is Door.programs:
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        address = request.client.host if request.client else ""
        visitor = service.visitor(secret.strip(), TOKEN) if kind.lower() == "bearer" and secret else None
        if visitor is None:
            if not service.knocks.allows(address):
                raise HTTPException(429, headers={"Retry-After": "60"})
            raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
        return visitor, ""
    secret = request.cookies.get(service.cookie, "")
    visitor = service.visitor(secret, SESSION) if secret else None
    if visitor is None and door is not Door.everybody:
        raise HTTPException(401)
    return visitor, secret if visitor is not None else ""


def _check_form(request: Request, form: FormData, visitor: Visitor | None) -> None:
    """A form comes from a page of ours: the browser says so, and with a session the form proves it.

    Raises:
        HTTPException: when it does not.
    """
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "This form comes from another site.")
    if visitor is not None:
        brought = form.get("csrf", "")
        if not isinstance(brought, str) or not hmac.compare_digest(
            brought.encode(errors="replace"), visitor.csrf.encode()
        ):
            raise HTTPException(403, "This form is too old, or not ours. Go back, reload the page, and try again.")


class Guard:
    """What every request and answer has in common: limits on what comes in, and headers on what goes out."""

    def __init__(self, app: ASGIApp, secure: bool) -> None:
        self.app = app
        self.held = 0
        self.headers = HEADERS | ({"Strict-Transport-Security": "max-age=31536000"} if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read, ended, answered = 0, False, False

        async def limited() -> Message:
            nonlocal read, ended
            if ended:  # what may come now is that nobody waits for the answer any more
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), SLOWEST)
            except TimeoutError:
                raise HTTPException(408) from None
            ended = not message.get("more_body", False)
            size = len(message.get("body", b""))
            read, self.held = read + size, self.held + size
            if self.held > MOST_HELD:
                raise HTTPException(503, headers={"Retry-After": "10"})
            if KNOWN not in scope and read > FROM_STRANGERS:
                raise HTTPException(413)
            if read > MOST_BYTES:
                raise HTTPException(
                    413, f"That is more than {MOST_BYTES // 2**20} MB: no notebook of a lesson is so large."
                )
            return message

        async def with_headers(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, limited, with_headers)
        except Exception as error:
            if answered:
                raise
            await _refuse(Request(scope), error)(scope, receive, with_headers)
        finally:
            self.held -= read


SAID = {
    400: "That can't be read.",
    401: "Sign in first: open the link that your instructor gave you.",
    403: "That isn't allowed.",
    404: "There is nothing here.",
    405: "That can't be done here.",
    408: "That took too long to come in. Try again.",
    413: "That is too large.",
    429: "That was too often. Wait a minute, then try again.",
    503: "The service is busy. Try again in a moment.",
}


def _refuse(request: Request, error: Exception) -> Response:
    """One sentence, as a page, or as JSON for a program."""
    headers: dict[str, str] = {}
    if isinstance(error, Full):
        status, sentence, headers = 503, str(error), {"Retry-After": "600"}
    elif isinstance(error, GraderError):
        status, sentence = 400, str(error)
    elif isinstance(error, HTTPException):
        status = error.status_code
        plain = HTTPException(status).detail
        sentence = error.detail if error.detail != plain else SAID.get(status, plain)
        headers = dict(error.headers or {})
    elif isinstance(error, SQLAlchemyError):
        log.error("the database: %s", type(error).__name__)
        status, sentence = 503, SAID[503]
    else:
        log.error("%s in %s", type(error).__name__, request.scope.get("route"), exc_info=error)
        status, sentence = 500, "Something went wrong here, and it is written down. Nothing that was accepted is lost."
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status, headers)
    service: Service = request.app.state.service
    answer = render("error", status, visitor=None, title=service.settings.title, sentence=sentence)
    answer.headers.update(headers)
    return answer


def create_app(store: Store, settings: Settings, address: str, folder: Path | None = None) -> Starlette:
    """The application.

    Args:
        store: the database.
        settings: the class.
        address: where people reach it; https wherever this is more than a try.
        folder: where the private key for platforms is.
    """
    from cellcheck.serving import class_pages, learner_pages, lti_pages, machine

    routes: list[BaseRoute] = [*learner_pages.ROUTES, *class_pages.ROUTES, *machine.ROUTES, *lti_pages.ROUTES]
    # What nobody foresaw is answered by the guard: Starlette would do it outside, without the headers.
    handlers: dict[Any, Callable[[Request, Exception], Response | Awaitable[Response]]] = dict.fromkeys(
        (HTTPException, GraderError, SQLAlchemyError), _refuse
    )
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False  # it would send people to whatever host a request names
    service = Service(store, settings, address.rstrip("/"), folder)
    app.add_middleware(Guard, secure=service.secure)
    app.state.service = service
    return app
