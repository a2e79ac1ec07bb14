"""From a platform and back: launches, what is wrong with some, the choice of an assignment, registration, marks.

The platform is lti1p3platform's, which isn't ours; its pages and services are played here, in this process.
"""

from __future__ import annotations

import hmac
import html
import json
import re
import socket
import stat
import sys
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization

pytest.importorskip("pylti1p3", reason="pylti1p3next is not installed")
pytest.importorskip("lti1p3platform", reason="lti1p3platform is not installed")

from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration
from pylti1p3.dynamic_registration import generate_key_pair
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.serving import lti, lti_marks, people
from cellcheck.serving.app import create_app
from cellcheck.serving.lti import CLAIM, Tool, tool_in
from cellcheck.serving.lti_marks import Teller
from cellcheck.serving.lti_pages import registration_link
from cellcheck.serving.lti_tables import Destination, Identity, Platform, PlatformCourse, Used
from cellcheck.serving.queue import Queue
from cellcheck.serving.store import Store, open_store
from cellcheck.serving.tables import TOKEN, Key, Person
from tests import postgres
from tests.serving.conftest import HOST, LESSON, OTHER, Browser, Place

MOODLE = "https://moodle.example"
MEMBER = "http://purl.imsglobal.org/vocab/lis/v2/membership"
LEARNER, TEACHER = f"{MEMBER}#Learner", f"{MEMBER}#Instructor"
PAIR, OTHER_PAIR, OUR_PAIR = (generate_key_pair(2048) for _ in range(3))
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"


class Conf(LTI1P3PlatformConfAbstract):  # type: ignore[misc]
    """The platform's memory of us."""

    def init_platform_config(self, **kwargs: Any) -> None:
        self._registration = kwargs["registration"]

    def get_registration_by_params(self, **kwargs: Any) -> Registration:
        return self._registration


class Start(OIDCLoginAbstract):  # type: ignore[misc]
    def set_lti_message_hint(self, **kwargs: Any) -> None:
        self._lti_message_hint = "link 1"

    def get_redirect(self, url: str) -> str:
        return url


class Message(LTIAdvantageMessageLaunchAbstract):  # type: ignore[misc]
    def get_preflight_response(self) -> dict[str, Any]:
        return self._request  # type: ignore[no-any-return]

    def render_launch_form(self, launch_data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return launch_data


@dataclass
class Moodle(requests.adapters.BaseAdapter):
    """A platform: what it does by itself, and what it answers when we call it."""

    conf: Conf
    scores: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    tokens: int = 0
    asked: list[str] = field(default_factory=list)
    down: int = 0
    """The status with which it refuses scores; -1 for no connection at all."""
    broken: str = ""
    """The only item for which it does."""
    removed: bool = False
    """Whether it has forgotten us, and gives no token any more."""
    registered: dict[str, Any] = field(default_factory=dict)
    at: str = MOODLE
    tool: str = HOST
    """We."""

    @property
    def registration(self) -> Registration:
        return self.conf.get_registration()

    def starts(self, choosing: bool = False) -> str:
        """The address at which a browser begins to launch us."""
        start = Start(None, self.conf)
        start.set_lti_message_hint()
        if choosing:
            start.set_deeplinking_launch_url()
        return start.initiate_login("user 7")  # type: ignore[no-any-return]

    def message(
        self,
        preflight: dict[str, str],
        role: str = LEARNER,
        subject: str = "user 7",
        name: str = "Grace Hopper",
        lesson: str = LESSON,
        item: str = "/items/1?type_id=2",
        choosing: bool = False,
    ) -> dict[str, str]:
        """What it lets the browser post to us."""
        message = Message(preflight, self.conf)
        message.set_user_data(subject, role.split(), full_name=name)
        message.set_resource_link_claim("link 1")
        message.set_launch_context_claim("course 3", ["CourseSection"], context_title="Deep learning")
        if lesson:
            message.set_custom_parameters_claim({"lesson": lesson})
        if item:
            message.set_ags(f"{self.at}/items", self.at + item)
        if choosing:
            message.set_dl(f"{self.at}/chosen", extra_data={"csrf": "theirs"})
        launch = message.lti_launch()
        assert launch.pop("launch_url") == f"{self.tool}/lti/launch"
        return launch  # type: ignore[no-any-return]

    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> requests.Response:
        """Answers us."""
        assert options["timeout"]
        url, body = str(request.url), request.body or ""
        path = urlsplit(url).path
        self.asked.append(path)
        status, answer = 200, {}
        if self.down == -1:
            raise requests.exceptions.ConnectionError("down")
        if path == "/keys":
            answer = self.conf.get_jwks()
        elif path == "/token":
            self.tokens += 1
            status = 400 if self.removed else 200
            answer = self.conf.get_access_token(dict(parse_qsl(str(body))))
        elif path.endswith("/scores"):
            self.conf.validate_token(request.headers["Authorization"].partition(" ")[2], [SCORE])
            if self.down and self.broken in path:
                status = self.down
            else:
                self.scores.append((url, json.loads(body)))
        elif path == "/openid":
            assert request.headers["Authorization"] == "Bearer once"  # as Canvas wants it
            names = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
            answer = {key: f"{self.at}/{value}" for key, value in names.items()}
            answer |= {"authorization_server": "moodle.example"}
            answer |= {"issuer": self.at, "registration_endpoint": f"{self.at}/register"}
            answer[lti.PLATFORM] = {"product_family_code": "moodle"}
        elif path == "/register":
            assert request.headers["Authorization"] == "Bearer once"
            self.registered = json.loads(body)
            answer = {**self.registered, "client_id": "dynamic 1"}
        else:
            status = 404
        response = requests.Response()
        response.status_code, response.url = status, url
        response._content_consumed = True
        response._content = b"" if path.endswith("/scores") else json.dumps(answer).encode()
        return response

    def close(self) -> None:
        pass


def known(at: str, tool: str, keys: Any) -> Registration:
    """What a platform knows of us."""
    return (
        Registration()
        .set_iss(at)
        .set_client_id("client 1")
        .set_deployment_id("deployment 1")
        .set_launch_url(f"{tool}/lti/launch")
        .set_deeplink_launch_url(f"{tool}/lti/choose")
        .set_oidc_login_url("/lti/login")
        .set_platform_private_key(PAIR[0])
        .set_platform_public_key(PAIR[1])
        .set_tool_key_set(keys)
    )


def register(store: Store, there: Moodle) -> None:
    """What we know of the platform; its course is admitted."""
    with store.writing() as session:
        at, trying = there.at, there.at.startswith("http:")
        new = lti.platform(at, "client 1", f"{at}/auth", f"{at}/token", f"{at}/keys", trying=trying)
        session.add(new)
        session.flush()
        key = {"platform_id": new.id, "deployment": "deployment 1", "context": "course 3"}
        session.add(PlatformCourse(**key, title="Deep learning", admitted=True))


@pytest.fixture(autouse=True, scope="module")
def a_key_is_checked_once() -> Iterator[None]:
    """Whoever reads a private key tries it out; the few that there are here are read hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jwt.algorithms, "load_pem_private_key", cache(jwt.algorithms.load_pem_private_key))
        yield


@pytest.fixture
def moodle(place: Place, monkeypatch: pytest.MonkeyPatch) -> Moodle:
    """A platform that is registered here, and whose course is admitted."""
    return platform_of(place, monkeypatch)


def platform_of(place: Place, monkeypatch: pytest.MonkeyPatch) -> Moodle:
    ours = place.app.state.service.folder / lti.FILE  # type: ignore[attr-defined]
    ours.touch(0o600)
    ours.write_text(OUR_PAIR[0])  # it would make one for each test
    there = Moodle(Conf(registration=known(MOODLE, HOST, place.browser("").client.get("/lti/keys").json())))
    monkeypatch.setattr(lti.Calls, "get_adapter", lambda self, url: there)
    monkeypatch.setattr(lti, "_keys", lti.Keys())
    register(place.store, there)
    return there


def begins(browser: Browser, moodle: Moodle, choosing: bool = False) -> dict[str, str]:
    """The first step: what the platform is asked."""
    answer = browser.client.get(moodle.starts(choosing), follow_redirects=False)
    assert answer.status_code == 302, answer.text
    to = urlsplit(answer.headers["location"])
    assert f"{to.scheme}://{to.netloc}{to.path}" == f"{MOODLE}/auth"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-lti-state-")
    for part in ("Secure", "HttpOnly", "SameSite=None", "Path=/", "Partitioned"):
        assert part in cookie
    return {name: values[0] for name, values in parse_qs(to.query).items()}


def posts(browser: Browser, message: dict[str, str]) -> Any:
    """The second: the browser posts what the platform made, from the platform's site."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document", "Origin": MOODLE}
    return browser.client.post("/lti/launch", data=message, headers=headers, follow_redirects=False)


def launches(place: Place, moodle: Moodle, **about: Any) -> tuple[Browser, Any]:
    browser = place.browser("")
    preflight = begins(browser, moodle, about.get("choosing", False))
    answer = posts(browser, moodle.message(preflight, **about))
    browser.session = browser.client.cookies.get("__Host-session", "")
    return browser, answer


HEADER = ("jwk", "jku", "x5u")


def own_key() -> dict[str, str]:
    return jwt.algorithms.RSAAlgorithm.to_jwk(  # type: ignore[no-any-return]
        serialization.load_pem_public_key(OTHER_PAIR[1].encode()), as_dict=True
    )


def confused(token: str) -> str:
    """The same token, signed by HS256 with the public key, which everybody knows."""
    parts = token.split(".")
    header = {**jwt.get_unverified_header(token), "alg": "HS256"}
    start = f"{urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip('=')}.{parts[1]}"
    signed = hmac.digest(PAIR[1].encode(), start.encode(), "sha256")
    return f"{start}.{urlsafe_b64encode(signed).decode().rstrip('=')}"


def forged(message: dict[str, str], key: str = PAIR[0], kid: str | None = None, **claims: Any) -> dict[str, str]:
    """The same message with other claims (None leaves one out), signed anew."""
    header = jwt.get_unverified_header(message["id_token"])
    body = jwt.decode(message["id_token"], options={"verify_signature": False})
    body = {name: value for name, value in (body | claims).items() if value is not None}
    more = {name: body.pop(name) for name in HEADER if name in body}
    token = jwt.encode(body, key, "RS256", headers={"kid": kid or header["kid"], **more})
    return message | {"id_token": token}


def test_a_learner_comes_in_and_is_the_same_person_the_next_time(place: Place, moodle: Moodle) -> None:
    browser, answer = launches(place, moodle)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/assignments/{LESSON}")
    session = next(c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-session="))
    for part in ("Secure", "HttpOnly", "SameSite=lax"):
        assert part in session
    page = browser.get(f"/assignments/{LESSON}")
    assert "Grace Hopper" in page
    assert "Hand it in" in page
    browser.get("/class", 404)
    again, answer = launches(place, moodle, name="Grace Brewster Hopper", lesson="02")
    assert answer.headers["location"] == f"/assignments/{OTHER}"
    assert "Grace Hopper" in again.get("/")
    with place.store.reading() as session:
        assert session.query(Identity).count() == 1
        assert session.query(Person).count() == 4
        assert {one.lesson for one in session.query(Destination)} == {LESSON, OTHER}


def test_an_instructor_comes_in_and_nobody_is_taken_for_somebody_else_by_name(place: Place, moodle: Moodle) -> None:
    browser, answer = launches(place, moodle, role=TEACHER, subject="t", name="teacher", lesson="")
    assert answer.headers["location"] == "/"
    assert "teacher (2)" in browser.get("/class")
    learner, _ = launches(place, moodle, subject="u", name="ada")
    assert "ada (2)" in learner.get("/me")
    nameless, _ = launches(place, moodle, subject="v", name="")
    assert re.search(r"moodle\.example [0-9a-f]{8}", nameless.get("/me"))
    launches(place, moodle, role=LEARNER, subject="t", name="teacher")  # the platform has changed its mind
    browser.get("/class", 401)
    with place.store.reading() as session:
        assert session.query(Person).filter_by(name="teacher").one().role == "instructor"
        assert {one.identity.subject for one in session.query(Destination)} == {"t", "u", "v"}


@pytest.mark.parametrize(
    ("role", "is_one"),
    [
        (f"{MEMBER}/Instructor#TeachingAssistant", "instructor"),
        ("Learner", "learner"),
        (f"{LEARNER} {MEMBER}/Instructor#TeachingAssistant", "learner"),  # who looks after Open edX's forum
        (f"{MEMBER}/Instructor#TeachingAssistant {TEACHER} {LEARNER}", "instructor"),
        ("http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor", None),
        ("http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator", None),
        (f"{MEMBER}#Mentor", None),
        (f"{MEMBER}/Learner#NonCreditLearner", "learner"),
        (f"{MEMBER}/Learner#Instructor", "learner"),  # a part of being a learner, and no instructor
        (f"{MEMBER}/Mentor#Instructor", None),
        ("https://elsewhere.example/membership#Instructor", None),
    ],
)
def test_the_role_in_the_course_is_what_counts(place: Place, moodle: Moodle, role: str, is_one: str | None) -> None:
    _, answer = launches(place, moodle, role=role)
    assert answer.status_code == (303 if is_one else 403)
    with place.store.reading() as session:
        assert [one.person.role for one in session.query(Identity)] == ([is_one] if is_one else [])


def test_a_role_that_changes_takes_along_what_opened_the_door_before(place: Place, moodle: Moodle) -> None:
    learner, _ = launches(place, moodle)
    with place.store.writing() as session:
        secret = people.make_key(session, session.query(Identity).one().person, TOKEN)
    token = {"Authorization": f"Bearer {secret}"}
    assert learner.client.get("/api/submissions/1", headers=token).status_code == 404
    place.browser("ada").hand_in()
    teacher, _ = launches(place, moodle, role=TEACHER)
    teacher.get("/class")
    learner.get("/me", 401)  # or a session of half a year, and a token that a friend has, would be an instructor's
    assert learner.client.get("/api/submissions/1", headers=token).status_code == 401
    assert "is no longer learner but instructor" in teacher.get("/class/log")
    _, answer = launches(place, moodle, role=f"{MEMBER}#Mentor")
    assert answer.status_code == 403
    teacher.get("/class", 401)
    with place.store.reading() as session:
        assert session.query(Identity).one().person.role == "learner"


def test_a_name_with_its_accents_apart_is_the_same_name(place: Place, moodle: Moodle) -> None:
    for subject, name in (("1", "Zo\u00eb"), ("2", "Zoe\u0308"), ("3", "Zoe\u0308 \ud800\0")):
        _, answer = launches(place, moodle, subject=subject, name=name)
        assert answer.status_code == 303, answer.text
    with place.store.reading() as session:
        assert {one.person.name for one in session.query(Identity)} == {"Zo\u00eb", "Zo\u00eb (2)", "Zo\u00eb (3)"}


def test_keys_are_asked_for_once_whoever_makes_some_up(place: Place, moodle: Moodle) -> None:
    now = [1_000.0]
    lti._keys = lti.Keys(lambda: now[0])
    browser = place.browser("")

    def tries(kid: str | None, status: int = 403) -> int:
        moodle.asked.clear()
        answer = posts(browser, forged(moodle.message(begins(browser, moodle)), kid=kid))
        assert answer.status_code == status, answer.text
        return moodle.asked.count("/keys")

    moodle.down = -1
    assert [tries(None), tries(None), tries("x")] == [1, 0, 0]
    now[0] += 61
    moodle.down = 0
    assert [tries(None, 303), tries("x"), tries(None, 303)] == [1, 0, 0]
    now[0] += 61
    assert [tries("new"), tries("x"), tries(None, 303)] == [1, 0, 0]
    moodle.down = -1
    now[0] += 61
    assert [tries("new"), tries("x"), tries(None, 303)] == [1, 0, 0]  # those that are known stay
    now[0] += 601
    assert [tries(None), tries(None)] == [1, 0]


def test_launches_wait_for_keys_that_another_has_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answered = threading.Event(), threading.Event()

    def slow(address: str, trying: bool) -> list[dict[str, Any]]:
        asked.set()
        answered.wait(5)
        return [{"kid": "a"}]

    monkeypatch.setattr(lti, "_fetch", slow)
    keys, came = lti.Keys(), list[Any]()
    one, other = (threading.Thread(target=lambda: came.append(keys.of("x", "a", False))) for _ in range(2))
    one.start()
    asked.wait(5)
    other.start()
    time.sleep(0.1)
    answered.set()
    one.join()
    other.join()
    assert came == [[{"kid": "a"}]] * 2


def test_a_key_of_another_kind_is_refused(place: Place, moodle: Moodle, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = place.browser("")
    message = moodle.message(begins(browser, moodle))
    kid = jwt.get_unverified_header(message["id_token"])["kid"]
    curve = {
        "kty": "EC",
        "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }
    for key in (curve, {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "x"}, {}):
        monkeypatch.setattr(lti, "_fetch", lambda *_, key=key: [key | {"kid": kid}])
        monkeypatch.setattr(lti, "_keys", lti.Keys())
        answer = posts(browser, message)
        assert answer.status_code == 403, key


def test_a_form_with_too_many_fields_is_refused(place: Place) -> None:
    for path in ("/lti/login", "/lti/launch"):
        assert place.browser("").client.post(path, content=b"a&" * 60).status_code == 400


def test_launches_that_do_not_end_leave_few_cookies(place: Place, moodle: Moodle) -> None:
    browser = place.browser("")
    for _ in range(20):
        begins(browser, moodle)
    assert len(dict(browser.client.cookies)) == lti.MOST_BEGUN + 1
    assert posts(browser, moodle.message(begins(browser, moodle))).status_code == 303


def test_a_platform_next_door_frames_no_session(place: Place, moodle: Moodle) -> None:
    """Of the same site, its frames have our cookies; what is shown there must have nothing to press."""
    ada = place.browser("ada")
    framed = [ada.client.get(moodle.starts(), headers={"Sec-Fetch-Dest": "iframe"}, follow_redirects=False)]
    framed.append(posts(ada, moodle.message(begins(ada, moodle, True), role=TEACHER, lesson="", choosing=True)))
    framed.append(ada.client.get("/lti/register/x"))
    for answer in framed:
        assert "frame-ancestors https:" in answer.headers["content-security-policy"]
        assert ada.csrf not in answer.text
        assert ">ada<" not in answer.text


def test_only_a_try_calls_this_machine(place: Place, moodle: Moodle) -> None:
    near = "http://127.0.0.1:9"
    assert (lti.is_web(near), lti.is_web(near, True)) == (False, True)
    assert not any(map(lti.is_web, ("https://x\ud800", "https:///x", "ftp://x", "https://[", 5)))
    moodle.asked.clear()
    link = registration_link(tool(place), HOST).removeprefix(HOST)
    stranger = place.browser("")
    assert "should begin with https" in stranger.get(f"{link}?openid_configuration={near}", 400)
    moodle.at = near  # what the platform names as its own, in a document that is fetched by https
    answer = stranger.get(f"{link}?openid_configuration={MOODLE}/openid&registration_token=once", 400)
    assert "did not answer as it should" in answer
    assert moodle.asked == ["/openid"]
    browser = place.browser("")
    message = forged(moodle.message(begins(browser, moodle)), **{AGS: {"scope": [SCORE], "lineitem": near}})
    assert posts(browser, message).status_code == 303
    with place.store.reading() as session:
        assert session.query(Destination).count() == 0


def test_a_platform_that_drips_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout counts from the last byte, so that a byte now and then would hold a thread for ever."""
    monkeypatch.setattr(lti, "ANSWER_SECONDS", 2.0)  # a byte comes twenty times as often, however busy a machine is
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not over.wait(0.1):
                    connection.sendall(b"x")

        threading.Thread(target=drip, daemon=True).start()
        lines = threading.BoundedSemaphore(1)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        try:
            with pytest.raises(requests.exceptions.Timeout, match="too slow"):
                lti.Calls(True, lines).get(address)
            with pytest.raises(requests.exceptions.ConnectionError, match="too many"):
                lti.Calls(True, lines).get(address)
        finally:
            over.set()


WRONG: dict[str, tuple[Callable[[dict[str, str]], dict[str, str]], str]] = {
    "the signature of another key": (lambda m: forged(m, OTHER_PAIR[0]), "Signature verification failed"),
    "a key that the platform doesn't have": (lambda m: forged(m, kid="made up"), "Unable to find public key"),
    "no signature": (
        lambda m: (
            m | {"id_token": jwt.encode(jwt.decode(m["id_token"], options={"verify_signature": False}), None, "none")}
        ),
        "KID not found",
    ),
    "for somebody else": (lambda m: forged(m, aud="client 2", azp="client 2"), "not registered"),
    "for several, and we are not meant": (lambda m: forged(m, aud=["client 1", "x"], azp="x"), "not registered"),
    "for several, and nobody is meant": (lambda m: forged(m, aud=["client 1", "x"], azp=None), "not for us"),
    "for nobody": (lambda m: forged(m, aud=None, azp=None), "not for us"),
    "too old": (lambda m: forged(m, iat=int(time.time()) - 999, exp=int(time.time()) - 99), "expired"),
    "without an end": (lambda m: forged(m, exp=None), "exp"),
    "of tomorrow": (lambda m: forged(m, iat=int(time.time()) + 9999), "iat"),
    "of another platform": (lambda m: forged(m, iss="https://other.example"), "not registered"),
    "another nonce": (lambda m: forged(m, nonce="made up"), "Invalid Nonce"),
    "no nonce": (lambda m: forged(m, nonce=None), "not made as it should be"),
    "nobody": (lambda m: forged(m, sub=None), "Must have a user"),
    "an odd deployment": (lambda m: forged(m, **{f"{CLAIM}deployment_id": 5}), "not made as it should be"),
    "an old version": (lambda m: forged(m, **{f"{CLAIM}version": "1.1"}), "Incorrect version"),
    "an unknown kind": (lambda m: forged(m, **{f"{CLAIM}message_type": "x"}), "Unrecognized message type"),
    "another state": (lambda m: m | {"state": "state-made-up"}, "this browser did not begin it"),
    "no state": (lambda m: {"id_token": m["id_token"]}, "Missing state"),
    "no token": (lambda m: {"state": m["state"]}, "id_token"),
    "signed with the public key as if it were a password": (
        lambda m: m | {"id_token": confused(m["id_token"])},
        "Unable to find public key",
    ),
    "with a key of its own": (
        lambda m: forged(m, OTHER_PAIR[0], kid="mine", jwk=own_key(), jku="https://evil.example/keys"),
        "Unable to find public key",
    ),
    "a nonce that can't be written": (lambda m: forged(m, nonce="\ud800"), "not made as it should be"),
    "an issuer that can't be kept": (lambda m: forged(m, iss="https://x\0"), "not made as it should be"),
    "a link that is a word": (lambda m: forged(m, **{f"{CLAIM}resource_link": "x"}), "not made as it should be"),
    "a course with a name without end": (
        lambda m: forged(m, **{f"{CLAIM}context": {"id": "x" * 301}}),
        "not made as it should be",
    ),
    "an end that is none": (lambda m: forged(m, exp=float("inf")), "exp"),
    "not a token": (lambda m: m | {"id_token": "x.y.z"}, "Invalid JWT format"),
    "a token that is a list": (lambda m: m | {"id_token": "W10.W10.W10"}, "not made as it should be"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_whoever_brings_a_message_that_is_not_right_stays_outside(place: Place, moodle: Moodle, wrong: str) -> None:
    browser = place.browser("")
    change, why = WRONG[wrong]
    answer = posts(browser, change(moodle.message(begins(browser, moodle))))
    assert answer.status_code == 403
    assert why.lower() in html.unescape(answer.text).lower(), answer.text[-600:]
    assert "set-cookie" not in answer.headers
    with place.store.reading() as session:
        assert session.query(Identity).count() == 0
        assert session.query(Used).count() == 0


def test_a_message_works_once_and_only_in_the_browser_that_began(place: Place, moodle: Moodle) -> None:
    browser, stranger = place.browser(""), place.browser("")
    preflight = begins(browser, moodle)
    message = moodle.message(preflight)
    begins(stranger, moodle)
    assert "this browser did not begin it" in posts(stranger, message).text  # somebody is lured into another's account
    cookies = dict(browser.client.cookies)
    assert posts(browser, message).status_code == 303
    assert posts(browser, message).status_code == 403  # its cookie is gone
    replay = place.browser("")
    for name, value in cookies.items():
        replay.client.cookies.set(name, value, domain="class.example", path="/")
    answer = posts(replay, message)
    assert answer.status_code == 403
    assert "it was used before" in answer.text
    with place.store.reading() as session:
        assert session.query(Key).filter_by(kind="session").count() == 1


def test_what_one_login_remembers_serves_no_other(place: Place, moodle: Moodle) -> None:
    browser, other = place.browser(""), place.browser("")
    message = moodle.message(begins(browser, moodle))
    begins(other, moodle)
    (name, _), (_, value) = *dict(browser.client.cookies).items(), *dict(other.client.cookies).items()
    browser.client.cookies.clear()
    browser.client.cookies.set(name, value, domain="class.example", path="/")
    assert "this browser did not begin it" in posts(browser, message).text


def test_clocks_may_differ_a_little(place: Place, moodle: Moodle) -> None:
    for seconds, status in ((-330, 303), (30, 303), (-400, 403), (90, 403)):
        browser, now = place.browser(""), int(time.time()) + seconds
        message = forged(moodle.message(begins(browser, moodle)), iat=now, exp=now + 300)
        assert posts(browser, message).status_code == status, seconds


def test_marks_go_only_where_a_platform_takes_them(place: Place, moodle: Moodle) -> None:
    launches(place, moodle, role=TEACHER, subject="t")
    launches(place, moodle, subject="u", item="")
    launches(place, moodle, subject="v", lesson="")
    for ags in ({"scope": ["x"], "lineitem": f"{MOODLE}/items/1"}, {"scope": [SCORE], "lineitem": "ftp://x"}, "odd"):
        browser = place.browser("")
        answer = posts(browser, forged(moodle.message(begins(browser, moodle)), **{AGS: ags}))
        assert answer.status_code == 303
    with place.store.reading() as session:
        assert session.query(Destination).count() == 0


def test_a_message_of_another_registration_does_not_end_a_login(place: Place, moodle: Moodle) -> None:
    with place.store.writing() as session:
        session.add(lti.platform(MOODLE, "client 2", f"{MOODLE}/auth", f"{MOODLE}/token", f"{MOODLE}/keys"))
    browser = place.browser("")
    message = forged(moodle.message(begins(browser, moodle)), aud="client 2", azp="client 2")
    assert "another platform than it began at" in posts(browser, message).text


@pytest.mark.parametrize(
    "claims", [{f"{CLAIM}deployment_id": "deployment 2"}, {f"{CLAIM}context": {"id": "course 4", "title": "<b>Maths"}}]
)
def test_a_course_comes_in_when_an_instructor_has_admitted_it(
    place: Place, moodle: Moodle, claims: dict[str, Any]
) -> None:
    teacher, browser = place.browser("teacher"), place.browser("")
    answer = posts(browser, forged(moodle.message(begins(browser, moodle), role=TEACHER), **claims))
    assert answer.status_code == 403
    assert "This course isn&#39;t known here yet" in answer.text
    assert "frame-ancestors https:" in answer.headers["content-security-policy"]  # it can be read where it stands
    page = teacher.get("/class/platforms")
    assert "not admitted" in page
    assert "<b>Maths" not in page
    teacher.post("/class/courses/2", admit="yes")
    assert posts(browser, forged(moodle.message(begins(browser, moodle)), **claims)).status_code == 303
    teacher.post("/class/courses/2", admit="no")
    assert posts(browser, forged(moodle.message(begins(browser, moodle)), **claims)).status_code == 403
    assert "admitted the course" in teacher.get("/class/log")
    assert "write the client id" in teacher.post("/class/platforms/1/remove", 400, client="client 2")
    teacher.post("/class/platforms/1/remove", client="client 1")
    assert "not registered" in browser.get(moodle.starts(), 403)
    with place.store.reading() as session:
        assert session.query(PlatformCourse).count() == session.query(Identity).count() == 0


def test_in_a_frame_it_offers_a_window_of_its_own(place: Place, moodle: Moodle) -> None:
    browser = place.browser("")
    answer = browser.client.get(moodle.starts(), headers={"Sec-Fetch-Dest": "iframe"}, follow_redirects=False)
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert "frame-ancestors https:" in answer.headers["content-security-policy"]
    match = re.search(r'href="([^"]+)" target="_blank"', answer.text)
    assert match
    link = html.unescape(match[1])
    assert dict(parse_qsl(urlsplit(link).query)) == dict(parse_qsl(urlsplit(moodle.starts()).query))
    opened = browser.client.get(link, headers={"Sec-Fetch-Dest": "document"}, follow_redirects=False)
    query = {name: values[0] for name, values in parse_qs(urlsplit(opened.headers["location"]).query).items()}
    assert posts(browser, moodle.message(query)).status_code == 303
    fields = dict(parse_qsl(urlsplit(moodle.starts()).query))
    posted = browser.client.post("/lti/login", data=fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert posted.status_code in (302, 404)  # as a form, as some platforms do it; the platform's page isn't played


def test_an_instructor_chooses_an_assignment(place: Place, moodle: Moodle) -> None:
    browser = place.browser("")
    preflight = begins(browser, moodle, choosing=True)
    answer = posts(browser, moodle.message(preflight, role=TEACHER, lesson="", choosing=True))
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert f"form-action https: {MOODLE}" in policy
    assert "frame-ancestors https:" in policy
    assert not [c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-session")]
    forms = re.findall(r'action="([^"]+)"><input type="hidden" name="JWT" value="([^"]+)"><button>([^<]+)', answer.text)
    assert [(form[0], form[2]) for form in forms] == [
        (f"{MOODLE}/chosen", "Lesson 1: Points in"),
        (f"{MOODLE}/chosen", "Lesson 2: Text in"),
    ]
    (item,) = moodle.conf.validate_deeplinking_resp({"JWT": forms[0][1]})
    assert item["custom"] == {"lesson": LESSON}
    assert item["url"] == f"{HOST}/lti/launch"
    assert item["lineItem"] == {"scoreMaximum": 24.0, "label": "Lesson 1: Points in", "resourceId": LESSON}
    claims = jwt.decode(forms[0][1], options={"verify_signature": False})
    assert claims["aud"] == [MOODLE]
    assert claims["https://purl.imsglobal.org/spec/lti-dl/claim/data"] == {"csrf": "theirs"}
    learner = place.browser("")
    answer = posts(learner, moodle.message(begins(learner, moodle, choosing=True), lesson="", choosing=True))
    assert answer.status_code == 403
    evil = place.browser("")
    message = moodle.message(begins(evil, moodle, choosing=True), role=TEACHER, lesson="", choosing=True)
    claim = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
    settings = jwt.decode(message["id_token"], options={"verify_signature": False})[claim]
    answer = posts(evil, forged(message, **{claim: settings | {"deep_link_return_url": "javascript:alert(1)"}}))
    assert answer.status_code == 400


def test_a_registration_link_registers_one_platform(place: Place, moodle: Moodle) -> None:
    teacher = place.browser("teacher")
    match = re.search(rf"{HOST}(/lti/register/[\w.-]+)", teacher.post("/class/platforms/link", 200))
    assert match
    stranger = place.browser("")
    assert "asks for a registration URL" in stranger.get(match[1], 400)
    query = f"?openid_configuration={MOODLE}/openid&registration_token=once"
    assert "should begin with https" in stranger.get(f"{match[1]}?openid_configuration=http://10.0.0.1/", 400)
    moodle.down = -1
    assert "did not answer as it should" in stranger.get(match[1] + query, 400)
    moodle.down = 0
    answer = stranger.client.get(match[1] + query)
    assert "knows this service now" in answer.text
    assert "org.imsglobal.lti.close" in stranger.get("/lti/close.js")
    assert moodle.registered["redirect_uris"] == [f"{HOST}/lti/launch"]
    assert moodle.registered["jwks_uri"] == f"{HOST}/lti/keys"
    assert moodle.registered["scope"] == SCORE
    assert moodle.registered[lti.TOOL]["domain"] == "class.example"
    with place.store.reading() as session:
        new = session.query(Platform).filter_by(client="dynamic 1").one()
        assert (new.issuer, new.name) == (MOODLE, "moodle, moodle.example")
        assert (new.keys_url, new.audience) == (f"{MOODLE}/keys", "")
    assert "used already" in stranger.get(match[1] + query, 401)
    assert "used already" in stranger.get(f"/lti/register/{tool(place).prove('login', 99)}{query}", 401)
    assert "used already" in stranger.get(f"/lti/register/{tool(place).prove('register', -9)}{query}", 401)
    another = registration_link(tool(place), HOST).removeprefix(HOST)
    assert "is known already" in stranger.get(another + query, 400)  # nobody takes a platform's place


def tool(place: Place) -> Tool:
    return tool_in(place.app.state.service.folder)  # type: ignore[attr-defined]


def test_a_platform_is_registered_by_hand(place: Place) -> None:
    teacher = place.browser("teacher")
    fields = {"issuer": "https://canvas.example", "client": "1", "login": "https://c/a", "token": "https://c/t"}
    assert "The address for keys" in teacher.post("/class/platforms", 400, **fields, keys="ftp://c/k")
    teacher.post("/class/platforms", **fields, keys="https://c/k")
    page = teacher.get("/class/platforms")
    assert "canvas.example" in page
    assert f"{HOST}/lti/choose" in page
    assert "is known already" in teacher.post("/class/platforms", 400, **fields, keys="https://c/k")


def test_the_command_line_makes_a_registration_link(tmp_path: Path) -> None:
    runner = CliRunner()
    runner.invoke(cli.app, ["serve", str(tmp_path), "--new"])
    done = runner.invoke(cli.app, ["serve", str(tmp_path), "--registration-link", "--address", HOST])
    match = re.search(rf"{HOST}/lti/register/(\S+)", done.output)
    assert match, done.output
    assert Tool(tmp_path / lti.FILE).read("register", match[1])


def test_the_key_is_ours_alone_and_stays(tmp_path: Path) -> None:
    first = Tool(tmp_path / lti.FILE).private
    assert stat.S_IMODE((tmp_path / lti.FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [lti.FILE]
    assert Tool(tmp_path / lti.FILE).private == first
    (key,) = Tool(tmp_path / lti.FILE).jwks["keys"]  # type: ignore[misc]
    assert not {"d", "p", "q"} & set(key)
    (tmp_path / lti.FILE).chmod(0o640)
    with pytest.raises(GraderError, match="Others can read"):
        _ = Tool(tmp_path / lti.FILE).private


@dataclass
class Telling:
    """The thread that tells platforms, a round at a time, with a clock of its own."""

    place: Place
    now: float = field(default_factory=time.time)
    teller: Teller = field(init=False)

    def __post_init__(self) -> None:
        self.starts()

    def starts(self) -> None:
        """As after the service was killed: what it knows is in the database."""
        place = self.place
        self.teller = Teller(place.store, place.settings, HOST, tool(place), lambda: self.now)

    def __call__(self, seconds: float = 3.0) -> int:
        self.now += seconds
        return self.teller.round()


@pytest.fixture
def tell(place: Place, moodle: Moodle) -> Telling:
    return Telling(place)


RESULT = json.dumps(
    {
        "exercises": [
            {"symbol": "pick", "status": "passed", "message": "Right."},
            {"symbol": "mean", "status": "failed", "message": "It gives <b>3</b>\nwhere 4 is right."},
            {"symbol": "std", "status": "missing", "message": ""},
        ]
    }
)


def graded(place: Place, score: float, result: str = RESULT) -> None:
    queue = Queue(place.store)
    work = queue.take()
    assert work is not None
    assert queue.finish(work, score, 24.0, result, "<p>a page</p>")


def test_marks_arrive_first_as_pending(place: Place, moodle: Moodle, tell: Telling) -> None:
    learner, _ = launches(place, moodle)
    assert tell() == 0
    learner.hand_in(b"1")
    assert tell() == 1
    url, pending = moodle.scores.pop()
    assert url == f"{MOODLE}/items/1/scores?type_id=2"
    assert (pending["activityProgress"], pending["gradingProgress"]) == ("Submitted", "Pending")
    assert pending["userId"] == "user 7"
    assert not {"scoreGiven", "comment"} & set(pending)
    assert tell() == 0
    graded(place, 7.5)
    assert tell() == 1
    _, score = moodle.scores.pop()
    assert (score["scoreGiven"], score["scoreMaximum"], score["gradingProgress"]) == (7.5, 24.0, "FullyGraded")
    assert score["comment"] == (
        "1 of 3 exercises are right. mean: It gives \u2039b\u203a3\u2039/b\u203a where 4 is right. "
        f"{HOST}/submissions/1"
    )
    assert score["timestamp"] > pending["timestamp"]
    assert score["submission"]["submittedAt"]
    learner.hand_in(b"2")
    assert tell() == 0  # to Moodle, "Pending" would mean that there is no mark any more
    graded(place, 3.0)
    assert tell() == 0  # the best counts
    learner.hand_in(b"3")
    graded(place, 9.0)
    assert tell() == 1
    assert moodle.scores.pop()[1]["scoreGiven"] == 9.0
    assert moodle.tokens == 1
    place.browser("ada").hand_in(b"hers")  # who came by a link has no place for marks
    assert tell() == 0


def test_what_can_not_be_graded_is_told_too(place: Place, moodle: Moodle, tell: Telling) -> None:
    learner, _ = launches(place, moodle)
    learner.hand_in()
    queue = Queue(place.store)
    work = queue.take()
    assert work is not None
    queue.fail(work, "This is no notebook.", "<p>a page</p>")
    tell()
    _, score = moodle.scores.pop()
    assert score["gradingProgress"] == "Failed"
    assert score["comment"] == f"It could not be graded. This is no notebook. {HOST}/submissions/1"


@pytest.mark.parametrize("down", [-1, 302, 503, 401])
def test_a_platform_that_was_down_hears_everything_later(
    place: Place, moodle: Moodle, tell: Telling, down: int
) -> None:
    for subject in ("u", "v"):
        learner, _ = launches(place, moodle, subject=subject, item=f"/items/{subject}")
        learner.hand_in(subject.encode())
        graded(place, 5.0)
    moodle.down = down
    moodle.asked.clear()
    assert tell() == 0
    assert len(moodle.asked) <= 2  # one who is down isn't asked for everybody
    assert "did not arrive there yet" in place.browser("teacher").get("/class/platforms")
    asked = len(moodle.asked)
    assert tell(1.0) == 0
    assert len(moodle.asked) == asked
    for _ in range(20):
        tell(1000.0)
    moodle.down = 0
    assert tell(1000.0) == 2
    assert sorted(score["userId"] for _, score in moodle.scores) == ["u", "v"]
    assert "did not arrive" not in place.browser("teacher").get("/class/platforms")


@pytest.mark.parametrize("down", [400, 401, 403, 404, 409, 429, 500])
def test_a_line_item_that_is_gone_holds_nobody_up(place: Place, moodle: Moodle, tell: Telling, down: int) -> None:
    for number in "123":
        learner, _ = launches(place, moodle, subject=number, item=f"/items/{number}")
        learner.hand_in(number.encode())
        graded(place, 5.0)
    moodle.down, moodle.broken = down, "/items/1"
    assert sum(tell(10.0) for _ in range(3)) == 2
    for _ in range(10):
        tell(lti_marks.LONGEST_PAUSE)
    assert [score["userId"] for _, score in moodle.scores] == ["2", "3"]
    moodle.down = 0
    assert tell(lti_marks.LONGEST_PAUSE) == 1


def test_a_platform_that_has_removed_us_is_not_asked_for_everybody(place: Place, moodle: Moodle, tell: Telling) -> None:
    for number in "123":
        learner, _ = launches(place, moodle, subject=number, item=f"/items/{number}")
        learner.hand_in(number.encode())
        graded(place, 5.0)
    moodle.removed = True
    assert [tell(), tell(1.0), moodle.tokens] == [0, 0, 1]
    assert "the platform answered 400" in place.browser("teacher").get("/class/platforms")
    moodle.removed = False
    assert sum(tell(lti_marks.LONGEST_PAUSE) for _ in range(2)) == 3


def test_a_platform_that_answers_without_end_is_not_listened_to(
    place: Place, moodle: Moodle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lti, "MOST_ANSWERED", 64)
    browser = place.browser("")
    answer = posts(browser, moodle.message(begins(browser, moodle)))
    assert "keys can&#39;t be fetched" in answer.text


def test_whatever_was_killed_when_everything_is_told(
    place: Place, moodle: Moodle, tell: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, _ = launches(place, moodle)
    learner.hand_in()
    graded(place, 5.0)

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Teller, "_write", killed)  # after it has arrived, before that is written
        with pytest.raises(Killed):
            tell()
    tell.starts()
    assert tell() == 1
    assert [score["scoreGiven"] for _, score in moodle.scores] == [5.0, 5.0]
    tell.starts()
    assert tell() == 0
    learner.hand_in(b"more")
    graded(place, 6.0)
    tell.starts()
    assert tell() == 1
    assert moodle.scores[-1][1]["scoreGiven"] == 6.0


def test_a_due_date_that_moves_moves_the_mark(place: Place, moodle: Moodle, tell: Telling) -> None:
    from dataclasses import replace

    rules = replace(place.settings.assignments[LESSON], due=time.time() - 3600, penalty_per_day=0.5)
    place.settings.assignments[LESSON] = rules  # type: ignore[index]
    learner, _ = launches(place, moodle)
    learner.hand_in()
    graded(place, 8.0)
    tell()
    assert moodle.scores[-1][1]["scoreGiven"] == 4.0
    assert "8 points before 1 day late were taken off." in moodle.scores[-1][1]["comment"]
    with place.store.reading() as session:
        person = session.query(Identity).one().person_id
    place.browser("teacher").post(f"/class/{person}/extend", lesson=LESSON, until="2099-01-01T00:00")
    tell()
    assert moodle.scores[-1][1]["scoreGiven"] == 8.0
    late = f"{datetime.now(UTC) - timedelta(minutes=30):%Y-%m-%dT%H:%M}"
    place.browser("teacher").post(f"/class/{person}/extend", lesson=LESSON, until=late)
    tell()
    assert moodle.scores[-1][1]["scoreGiven"] == 4.0


def test_what_is_kept_is_exported_and_deleted(place: Place, moodle: Moodle, tell: Telling) -> None:
    learner, _ = launches(place, moodle)
    learner.hand_in()
    tell()
    export = json.loads(learner.get("/me/export"))
    (there,) = export["platforms"]
    assert (there["platform"], there["subject"]) == (MOODLE, "user 7")
    assert there["marks"][0]["lesson"] == LESSON
    with place.store.writing() as session:
        person = session.query(Identity).one().person_id
    place.browser("teacher").post(f"/class/{person}/delete", name="Grace Hopper")
    with place.store.reading() as session:
        assert session.query(Identity).count() == session.query(Destination).count() == 0
    assert tell() == 0
    with place.store.writing() as session:
        (used,) = session.query(Used)
        used.ends = 1.0
    launches(place, moodle)
    with place.store.reading() as session:
        assert [one.ends > time.time() for one in session.query(Used)] == [True]


def test_the_tables_are_those_of_the_migrations(place: Place) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from cellcheck.serving.lti_tables import Base

    engine = place.store._read.kw["bind"]
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_postgresql_keeps_it_all_too(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres.running() as server:
        store = open_store(server.new())
        theirs = Place(store, place.settings, create_app(store, place.settings, HOST, tmp_path))
        moodle = platform_of(theirs, monkeypatch)
        tell = Telling(theirs)
        learner, answer = launches(theirs, moodle)
        assert answer.status_code == 303
        launches(theirs, moodle)
        learner.hand_in()
        assert tell() == 1
        graded(theirs, 5.0)
        assert (tell(), tell()) == (1, 0)
        assert moodle.scores[-1][1]["scoreGiven"] == 5.0
        with store.writing() as session:
            session.delete(session.query(Person).one())
        with store.reading() as session:
            assert session.query(Destination).count() == 0
        store._read.kw["bind"].dispose()


def test_without_the_library_there_is_a_sentence(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cellcheck.serving.lti", None)
    monkeypatch.setitem(sys.modules, "cellcheck.serving.lti_marks", None)
    stranger, teacher = place.browser(""), place.browser("teacher")
    for path in ("/lti/login", "/lti/keys", "/lti/register/x"):
        assert "is not installed here" in stranger.get(path, 400)
    for path in ("/lti/login", "/lti/launch"):
        assert "is not installed here" in stranger.post(path, 400)
    assert "is not installed here" in teacher.get("/class/platforms", 400)
    for path in ("/class/platforms/link", "/class/platforms"):
        assert "is not installed here" in teacher.post(path, 400, issuer="x", client="x")
    ada = place.browser("ada")
    ada.hand_in()
    assert json.loads(ada.get("/me/export"))["platforms"] == []
