"""Who may go where: all routes, tried by everybody who shouldn't be there."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import quote

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient
from starlette.types import Message

from cellcheck.serving import app as apps
from cellcheck.serving import class_pages, learner_pages, lti_pages, machine, people
from cellcheck.serving.app import HEADERS, Door, Guard, Limiter
from cellcheck.serving.class_pages import tidy
from cellcheck.serving.tables import LEARNER, LINK, SESSION, TOKEN, Key
from tests.serving.conftest import HOST, LESSON, Place, link_in, whole_words

ROUTES = [*learner_pages.ROUTES, *class_pages.ROUTES, *machine.ROUTES, *lti_pages.ROUTES]
OPEN = {"GET /", "GET /alive", "GET /live.js", "GET /sign-in/{secret}", "POST /sign-in/{secret}"}
OPEN |= {"GET /lti/login", "POST /lti/login", "POST /lti/launch", "GET /lti/keys", "GET /lti/close.js"}
OPEN |= {"GET /lti/register/{secret}"}


PARTS = ("{lesson}", "{id:number}", "{secret}")


def door_of(route: object) -> Door:
    door = route.door  # type: ignore[attr-defined]
    assert isinstance(door, Door)
    return door


def path_of(route: object) -> tuple[str, str]:
    method, path = route.name.split()  # type: ignore[attr-defined]
    path = path.replace("{lesson}", LESSON).replace("{id:number}", "1").replace("{secret}", "made-up")
    return method, path


def test_only_these_doors_stand_open() -> None:
    assert {route.name for route in ROUTES if door_of(route) is Door.everybody} == OPEN
    for route in class_pages.ROUTES:
        assert door_of(route) is Door.teachers
    for route in machine.ROUTES:
        assert door_of(route) is Door.programs
    assert len({route.name for route in ROUTES}) == len(ROUTES)


def test_strangers_come_in_nowhere(place: Place) -> None:
    place.browser("ada").hand_in()
    for cookie in (None, "made up", place.key("ada", LINK), place.key("ada", TOKEN)):
        client = TestClient(place.app, base_url=HOST)  # type: ignore[arg-type]
        if cookie:
            client.cookies.set("__Host-session", cookie, domain="class.example", path="/")
        for route in ROUTES:
            if route.name in OPEN:
                continue
            method, path = path_of(route)
            answer = client.request(method, path, follow_redirects=False)
            assert answer.status_code == 401, (route.name, answer.status_code)
            assert "ada" not in whole_words(answer.text)


def test_learners_see_nothing_of_the_class_nor_of_each_other(place: Place) -> None:
    ada, bob = place.browser("ada"), place.browser("bob")
    ada.hand_in(b"ada's own words")
    place.grade(3.0, page="<p>ada's page</p>")
    for route in ROUTES:
        method, path = path_of(route)
        if door_of(route) is Door.teachers or (door_of(route) is Door.signed_in and "/submissions/" in path):
            fields = {"csrf": bob.csrf, "why": "x", "names": "eve", "answer": "x", "lesson": LESSON}
            answer = bob.client.request(method, path, data=fields if method == "POST" else None, follow_redirects=False)
            assert answer.status_code == 404, (route.name, answer.status_code)
            assert "ada" not in whole_words(answer.text)
    token = {"Authorization": f"Bearer {place.key('bob')}"}
    assert bob.client.get("/api/submissions/1", headers=token).status_code == 404
    assert "ada" not in whole_words(bob.get("/me/export"))
    assert '<span class="good">3</span> of 24' in ada.get("/")


def test_a_form_without_its_proof_changes_nothing(place: Place) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    for route in ROUTES:
        method, path = path_of(route)
        if method != "POST" or door_of(route) in (Door.programs, Door.everybody):
            continue
        browser = teacher if door_of(route) is Door.teachers else ada
        for proof in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": place.browser("bob").csrf}):
            answer = browser.client.post(path, data=proof, follow_redirects=False)
            assert answer.status_code == 403, (route.name, answer.status_code)
    for path in ("/me/tokens", "/sign-out"):
        answer = ada.client.post(path, data={"csrf": ada.csrf}, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403
    ada.get("/me")


def test_a_link_opens_one_session_and_only_by_its_button(place: Place) -> None:
    teacher = place.browser("teacher")
    link = link_in(teacher.post("/class/people", 200, names="eve"))
    stranger = place.browser("")
    for _ in range(3):  # a mail program that looks at links
        assert "Sign in to A class" in stranger.get(link)
    answer = stranger.client.post(link, follow_redirects=False)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-session=")
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "Domain" not in cookie
    assert "Your assignments" in stranger.get("/")
    assert place.browser("").client.post(link).status_code == 401
    assert "used already" in place.browser("").client.post(link).text


def test_signing_out_ends_the_session_everywhere(place: Place) -> None:
    ada = place.browser("ada")
    ada.post("/sign-out")
    ada.client.cookies.set("__Host-session", ada.session, domain="class.example", path="/")
    ada.get("/me", 401)


@pytest.mark.parametrize(("kind", "past"), [(SESSION, "ends"), (SESSION, "idle"), (TOKEN, "ends"), (LINK, "ends")])
def test_keys_end(place: Place, kind: str, past: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = place.key("ada", kind)
    with place.store.writing() as session:
        assert people.who(session, secret, kind) is not None
        (key,) = session.query(Key).filter_by(digest=people.digest(secret))
        if past == "ends":
            key.ends = key.made - 1
        else:
            key.used = key.made - people.IDLE[LEARNER] - 100
    with place.store.writing() as session:
        assert people.who(session, secret, kind) is None


HOUR, GUIDE = 60 * 60, Path(__file__).parents[2] / "docs" / "serving.md"


@pytest.mark.parametrize(
    ("name", "row", "idle", "at_most"),
    [
        ("ada", "| a learner's session | 30 days | 180 days |", 30 * people.DAY, 180 * people.DAY),
        ("teacher", "| an instructor's session | 2 hours | 12 hours |", 2 * HOUR, 12 * HOUR),
    ],
)
def test_sessions_last_as_long_as_the_guide_says(place: Place, name: str, row: str, idle: int, at_most: int) -> None:
    assert row in GUIDE.read_text("utf-8")
    for used, age, works in (
        (idle - 60, 0, True),
        (idle + 60, 0, False),
        (0, at_most - 60, True),
        (0, at_most + 60, False),
        (None, idle - 60, True),  # a session that was made, and not used since
        (None, idle + 60, False),
    ):
        secret = place.key(name, SESSION)
        with place.store.writing() as session:
            now = time.time()
            (key,) = session.query(Key).filter_by(digest=people.digest(secret))
            key.used = None if used is None else now - used
            key.made, key.ends = now - age, key.ends - age
        with place.store.writing() as session:
            assert (people.who(session, secret, SESSION) is not None) == works, (used, age)
            tidy(session, now)
            assert session.query(Key).filter_by(digest=people.digest(secret)).count() == works, (used, age)


def test_no_key_is_kept_and_none_does_the_work_of_another(place: Place) -> None:
    secrets = {kind: place.key("ada", kind) for kind in (LINK, SESSION, TOKEN)}
    with place.store.writing() as session:
        digests = {key.digest for key in session.query(Key)}
        assert digests.isdisjoint(secrets.values())
        for kind, secret in secrets.items():
            for other in secrets:
                assert (people.who(session, secret, other) is not None) == (kind == other)


def test_guessing_keys_is_slowed_down(place: Place) -> None:
    stranger = place.browser("")
    answers = [stranger.client.post(f"/sign-in/guess-{n}").status_code for n in range(40)]
    assert answers[:30] == [401] * 30
    assert answers[30:] == [429] * 10
    programs = [stranger.client.get("/api/submissions/1", headers={"Authorization": f"Bearer {n}"}) for n in range(3)]
    assert {answer.status_code for answer in programs} == {429}
    assert programs[0].headers["retry-after"] == "60"
    assert place.browser("ada").get("/me")


def test_the_limiter_forgets() -> None:
    now = [0.0]
    limiter = Limiter(2, 10.0, lambda: now[0])
    assert [limiter.allows("a"), limiter.allows("a"), limiter.allows("a"), limiter.allows("b")] == [
        True,
        True,
        False,
        True,
    ]
    now[0] = 10.0
    assert limiter.allows("a")


def test_every_answer_has_the_headers(place: Place) -> None:
    ada = place.browser("ada")
    ada.hand_in()
    place.grade(1.0)
    for path in ("/", "/nothing", "/me", "/submissions/1", "/alive", "/class"):
        answer = ada.client.get(path, follow_redirects=False)
        for name in HEADERS:
            assert answer.headers[name.lower()], (path, name)
        assert answer.headers["strict-transport-security"]
        assert "unsafe-inline" not in answer.headers["content-security-policy"].replace("style-src 'unsafe-inline'", "")
    page = ada.client.get("/submissions/1/feedback")
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "script-src" not in page.headers["content-security-policy"]
    file = ada.client.get("/submissions/1/notebook")
    assert file.headers["content-disposition"] == f'attachment; filename="{LESSON}.1.ipynb"'
    assert file.headers["content-security-policy"] == "sandbox"


def test_what_is_too_large_is_refused_before_it_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "MOST_BYTES", 1000)
    ada = place.browser("ada")
    assert "no notebook of a lesson is so large" in ada.hand_in(b"x" * 2000, status=413)
    answer = ada.client.post(
        f"/api/assignments/{LESSON}", content=b"x" * 2000, headers={"Authorization": f"Bearer {place.key('ada')}"}
    )
    assert answer.status_code == 413
    assert "no notebook" in answer.json()["error"]


def test_strangers_can_not_bring_much(place: Place) -> None:
    answer = place.browser("").client.post("/sign-in/made-up", data={"csrf": "x" * 100_000})
    assert answer.status_code == 413
    ada = place.browser("ada")
    ada.hand_in(b"x" * 100_000)


def test_names_and_words_are_text_wherever_they_stand(place: Place) -> None:
    teacher, evil = place.browser("teacher"), "<script>alert(1)</script>"
    teacher.post("/class/people", 200, names=evil)
    eve = place.browser(evil)
    eve.hand_in(b"{}")
    place.grade(1.0)
    eve.post("/submissions/1/ask", why=f"{evil} please")
    for browser, path in (
        (teacher, "/class"),
        (teacher, "/class/4"),
        (teacher, "/class/log"),
        (teacher, "/submissions/1"),
        (eve, "/me"),
    ):
        page = browser.get(path)
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_an_error_inside_says_one_sentence_and_no_trace(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(learner_pages, "standings", broken)
    answer = place.browser("ada").client.get("/")
    assert answer.status_code == 500
    assert "Something went wrong here" in answer.text
    assert all(answer.headers[name.lower()] == value for name, value in HEADERS.items())
    assert not re.search("secret detail|Traceback", answer.text)


def test_a_link_opened_by_somebody_who_is_signed_in_ends_that_session(place: Place) -> None:
    ada, link = place.browser("ada"), f"/sign-in/{place.key('bob', LINK)}"
    assert "It ends the session of ada here." in ada.get(link)
    assert "not ours" in ada.client.post(link, follow_redirects=False).text
    assert ada.post(link) == "/"
    assert ">bob</a>" in ada.get("/")
    ada.client.cookies.clear()
    ada.client.cookies.set("__Host-session", ada.session, domain="class.example", path="/")
    ada.get("/me", 401)


def test_a_learners_session_lasts_and_an_instructors_does_not(place: Place) -> None:
    for name, lasts in (("ada", True), ("teacher", False)):
        secret = place.key(name, SESSION)
        with place.store.writing() as session:
            (key,) = session.query(Key).filter_by(digest=people.digest(secret))
            key.made, key.used, key.ends = (
                key.made - 5 * people.DAY,
                key.made - 4 * people.DAY,
                key.ends - 5 * people.DAY,
            )
        with place.store.reading() as session:
            assert (people.who(session, secret, SESSION) is not None) == lasts


@pytest.mark.parametrize("path", ["/submissions/" + "9" * 20, "/submissions/" + "9" * 5000, "/me/", "/class//"])
def test_addresses_that_are_none_are_not_found_whatever_host_is_named(place: Place, path: str) -> None:
    answer = place.browser("ada").client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
    assert answer.status_code == 404
    assert "evil" not in answer.text + str(answer.headers)
    assert answer.headers["x-content-type-options"]


def test_a_proof_in_any_letters_is_looked_at(place: Place) -> None:
    ada = place.browser("ada")
    for proof in ("é", "\N{SNOWMAN}" * 64, "\0"):
        assert ada.client.post("/me/tokens", data={"csrf": proof}).status_code == 403


def test_pages_are_read_while_somebody_writes(place: Place) -> None:
    """On SQLite one process writes at a time; whoever looks, or guesses at keys, doesn't wait for that."""
    ada, stranger = place.browser("ada"), place.browser("").client
    ada.get("/")
    begun = time.monotonic()
    with place.store.writing() as session:
        people.note(session, "teacher", "is at something that takes long")
        ada.get("/")
        assert stranger.get("/api/submissions/1", headers={"Authorization": "Bearer guess"}).status_code == 401
    assert time.monotonic() - begun < 15


def through_the_guard(messages: list[Message], guard: Guard) -> int:
    """The status of an answer to these pieces of a request; after the last, nothing comes any more."""
    sent: list[Message] = []

    async def receive() -> Message:
        if messages:
            return messages.pop(0)
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    path = f"/api/assignments/{LESSON}"
    headers = [(b"authorization", f"Bearer {guard.token}".encode())]  # type: ignore[attr-defined]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": headers, "client": ("10.0.0.1", 1), "scheme": "https", "server": ("class.example", 443)}
    asyncio.run(guard(scope, receive, send))
    assert dict(sent[0]["headers"])[b"x-content-type-options"] == b"nosniff"
    return int(sent[0]["status"])


def test_requests_that_are_slow_or_too_many_are_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = Guard(place.app, secure=True)  # type: ignore[arg-type]
    guard.token = place.key("ada")  # type: ignore[attr-defined]
    piece: Message = {"type": "http.request", "body": b"{", "more_body": True}
    whole: Message = {"type": "http.request", "body": b"}" * 5_000, "more_body": False}
    monkeypatch.setattr(apps, "SLOWEST", 0.2)
    assert through_the_guard([piece], guard) == 408
    monkeypatch.setattr(apps, "SLOWEST", 30.0)
    monkeypatch.setattr(apps, "MOST_HELD", 1_000)
    assert through_the_guard([piece, whole], guard) == 503
    monkeypatch.setattr(apps, "MOST_HELD", 10_000)
    monkeypatch.setattr(apps, "MOST_BYTES", 5_000)
    assert through_the_guard([piece, whole], guard) == 413
    monkeypatch.setattr(apps, "MOST_BYTES", 10_000)
    assert guard.held == 0
    assert through_the_guard([piece, whole], guard) == 201


def test_no_key_and_no_notebook_is_logged(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="cellcheck")
    token, link, words = place.key("ada"), place.key("bob", LINK), b"a learner's own words"
    ada, headers = place.browser("ada"), {"Authorization": f"Bearer {token}"}
    for broken, status in (
        (RuntimeError("broken"), 500),
        (OperationalError("INSERT", {"notebook": words}, Exception("away")), 503),
    ):
        with monkeypatch.context() as during:
            during.setattr(learner_pages, "accept", Mock(side_effect=broken))
            ada.hand_in(words, status=status)
            answer = ada.client.post(f"/api/assignments/{LESSON}", content=words, headers=headers)
            assert answer.status_code == status
            assert "broken" not in answer.text
    assert ada.post(f"/sign-in/{link}") == "/"
    assert "RuntimeError" in caplog.text
    for secret in (token, link, ada.session, words.decode(), people.digest(token)):
        assert secret not in caplog.text


NASTY = (
    "",
    "\0",
    "é\u202e",
    "-1",
    "9" * 30,
    "٣",
    "<b>",
    "../..",
    "{{ 7 * 7 }}",
    "2026-12-01",
    "9999-12-31T23:59",
    "x" * 5_000,
)


@pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
def test_nothing_that_is_sent_is_an_error_inside(place: Place, nasty: str) -> None:
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in()
    place.grade(1.0)
    names = ("names", "role", "lesson", "until", "name", "submission", "answer", "why", "notebook")
    for route in ROUTES:
        if route.name == "POST /sign-out":
            continue
        method, path = route.name.split()
        for filled in (path_of(route)[1], *(path.replace(part, quote(nasty, "")) for part in PARTS if part in path)):
            for browser in (teacher, ada):
                headers = {"Authorization": f"Bearer {quote(nasty)}"} if door_of(route) is Door.programs else {}
                fields = dict.fromkeys(names, nasty) | {"csrf": browser.csrf}
                answer = browser.client.request(
                    method, filled, data=fields if method == "POST" else None, headers=headers, follow_redirects=False
                )
                assert answer.status_code < 500, (route.name, filled, answer.status_code)
