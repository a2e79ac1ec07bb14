"""LTI 1.3: the library that speaks it (pylti1p3next), and what it needs here to do so.

Nothing of a launch is kept before the platform's signature is verified. What a login must remember until its launch
comes (its state, its nonce, which platform) stands in a cookie of its own, signed; the launch uses its nonce up.

An adapter for Starlette: `Call` is a request, `LoginCookie` the library's cookies and session, `Login` and `Launch` the
two steps of a launch, `Registering` the dynamic registration. All of it is synchronous, and runs in threads.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import jwt
import requests
from pylti1p3.cookie import CookieService
from pylti1p3.deployment import Deployment
from pylti1p3.dynamic_registration import DynamicRegistration, generate_key_pair
from pylti1p3.exception import LtiException, LtiKeyException, LtiMessageValidationException, OIDCException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.redirect import Redirect
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.session import SessionService
from pylti1p3.tool_config.abstract import ToolConfAbstract
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from cellcheck.errors import GraderError
from cellcheck.plain import visible
from cellcheck.serving.lti_tables import Platform, Used
from cellcheck.serving.store import Store

REFUSED = (LtiException, OIDCException)
"""What the library raises at a message that isn't right."""
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
ASSISTANT = "TeachingAssistant"
AGS_CLAIM = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"
LAUNCH, LOGIN, CHOOSE, KEYS = "/lti/launch", "/lti/login", "/lti/choose", "/lti/keys"
FILE = "lti.key"
LOGIN_SECONDS = 600
"""How long a platform may take between login and launch."""
ANSWER_SECONDS = 10
"""How long a platform may be silent, and twice that how long it may take in all."""
MOST_BEGUN = 5
"""Launches that a browser may have begun and not ended: proxies refuse requests with too many cookies."""
MOST_ANSWERED = 2**20
"""Bytes of an answer."""
KEYS_SECONDS, AGAIN_SECONDS = 600, 60
"""How long a platform's keys are remembered, and how soon they are asked for again at the earliest."""
WAITS_SECONDS = 3
"""How long a launch waits for keys that another one has asked for."""
SKEW_SECONDS = 60
"""By how much clocks may differ."""


class Tool:
    """Our key, which signs what platforms get from us, and what we want to know again when it comes back."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def private(self) -> str:
        """The private key; the first who asks makes it.

        Raises:
            GraderError: when it can't be made, or others may read it.
        """
        try:
            if not self._path.exists():
                self._make()
            if self._path.stat().st_mode & 0o077:
                raise GraderError(f"Others can read {self._path}, this service's private key: chmod 600 {self._path}")
            return self._path.read_text("utf-8")
        except OSError as error:
            raise GraderError(f"{self._path}, this service's private key, can't be used: {error.strerror}.") from error

    def _make(self) -> None:
        new = self._path.with_name(f"{FILE}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(generate_key_pair(2048)[0])
        try:
            os.link(new, self._path)  # whole, or not at all; whoever comes second takes the first one's
        except FileExistsError:
            pass
        finally:
            new.unlink()

    @cached_property
    def public(self) -> str:
        """The public key."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

        key = load_pem_private_key(self.private.encode(), None).public_key()
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @cached_property
    def jwks(self) -> dict[str, object]:
        """The public key, as platforms fetch it."""
        return {"keys": Registration().set_tool_public_key(self.public).get_jwks()}

    @cached_property
    def _secret(self) -> bytes:
        return hashlib.sha256(b"what we want to know again " + self.private.encode()).digest()

    def prove(self, purpose: str, seconds: float, **claims: Any) -> str:
        """Something that we know again when it comes back, for so long, and for this purpose alone."""
        own = {"aud": purpose, "exp": int(time.time() + seconds), "jti": secrets.token_urlsafe(16)}
        return jwt.encode(claims | own, self._secret, "HS256")

    def read(self, purpose: str, proof: str) -> dict[str, Any] | None:
        """What `prove` was given; None where it is not of ours, not for this, or too old."""
        try:
            needed = cast(Any, {"require": ["aud", "exp", "jti"]})
            return jwt.decode(proof, self._secret, ["HS256"], audience=purpose, options=needed)
        except jwt.InvalidTokenError:
            return None

    def registration(self, platform: Platform) -> Registration:
        """A platform, as the library knows it."""
        registration = Registration().set_issuer(platform.issuer).set_client_id(platform.client)
        registration.set_auth_login_url(platform.login_url).set_auth_token_url(platform.token_url)
        registration.set_key_set_url(platform.keys_url).set_auth_audience(platform.audience)
        return registration.set_tool_private_key(self.private).set_tool_public_key(self.public)


@cache
def tool_in(folder: Path) -> Tool:
    """The key beside a class's database."""
    return Tool(folder / FILE)


def spend(session: Session, what: str, ends: float) -> bool:
    """Uses something up that works once; False where it was used before. What has ended is forgotten."""
    session.execute(delete(Used).where(Used.ends < time.time()))
    try:
        with session.begin_nested():
            session.add(Used(digest=hashlib.sha256(what.encode()).hexdigest(), ends=ends))
    except IntegrityError:
        return False
    return True


def is_web(address: object, trying: bool = False) -> bool:
    """Whether we open this address, or send anybody there: https, or, while this is a try, http on this machine."""
    if not isinstance(address, str) or not address.isprintable():
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    near = trying and parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")
    return bool(parts.hostname) and (parts.scheme == "https" or near)


LINES = threading.BoundedSemaphore(8)
"""Calls at a time to platforms that are registered."""
STRANGE_LINES = threading.BoundedSemaphore(2)
"""And to those that want to be."""


class Calls(requests.Session):  # type: ignore[misc]
    """How we call platforms: by https, to where they said and nowhere else, and not for ever.

    Args:
        trying: whether this service is a try on one machine, where a platform may be, too.
        lines: how many calls there may be at a time.
    """

    def __init__(self, trying: bool = False, lines: threading.BoundedSemaphore = LINES) -> None:
        super().__init__()
        self._trying, self._lines = trying, lines

    def request(self, method: str, url: str, **options: Any) -> requests.Response:
        """One call. It has a thread of its own, which may be left behind: a timeout ends with each byte that comes."""
        if not is_web(url, self._trying):
            raise requests.exceptions.InvalidSchema("not https")
        if not self._lines.acquire(blocking=False):
            raise requests.exceptions.ConnectionError("too many calls at a time")
        came: list[requests.Response | Exception] = []

        def call() -> None:
            try:
                came.append(self._call(method, url, options))
            except Exception as error:  # of whatever kind: it is raised below
                came.append(error)
            finally:
                self._lines.release()

        calling = threading.Thread(target=call, daemon=True)
        calling.start()
        calling.join(2 * ANSWER_SECONDS)
        if not came:
            raise requests.exceptions.Timeout("too slow")
        if isinstance(came[0], Exception):
            raise came[0]
        return came[0]

    def _call(self, method: str, url: str, options: dict[str, Any]) -> requests.Response:
        limits = {"timeout": ANSWER_SECONDS, "allow_redirects": False, "stream": True}
        with super().request(method, url, **options | limits) as answer:
            if 300 <= answer.status_code < 400:  # to the library, that would be an answer like another
                raise requests.exceptions.TooManyRedirects("redirects are not followed")
            content = b"".join(islice(answer.iter_content(MOST_ANSWERED // 32), 33))
            if len(content) > MOST_ANSWERED:
                raise requests.exceptions.ContentDecodingError("too long")
            answer._content, answer._content_consumed = content, True
            return answer


class Call(Request):
    """A request, as the library asks for it."""

    def __init__(self, fields: Mapping[str, str], cookies: Mapping[str, str], secure: bool) -> None:
        self.fields, self.cookies, self._secure = fields, cookies, secure

    def is_secure(self) -> bool:
        """Whether it came by https."""
        return self._secure

    def get_param(self, key: str) -> str:
        """A field of the form or the address."""
        return self.fields.get(key, "")


class LoginCookie(CookieService, SessionService):
    """What a login remembers until its launch: the library's cookies and session, in one signed cookie."""

    def __init__(self, tool: Tool, call: Call) -> None:
        self._tool, self._call = tool, call
        self._new: dict[str, Any] = {}
        self.login: dict[str, Any] = {}
        """Of a launch, what its login remembered."""

    def _name(self, state: str) -> str:
        return f"{'__Host-' if self._call.is_secure() else ''}lti-{state}"

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """The library's one cookie is the state."""
        self._new["state"] = name

    def get_cookie(self, name: str) -> str | None:
        """The state again, where this browser brings what its login was given."""
        login = self._tool.read("login", self._call.cookies.get(self._name(name), ""))
        if login is None or login["state"] != name:
            return None
        self.login = login
        return name

    def save_nonce(self, nonce: str) -> None:
        """Goes into the cookie."""
        self._new["nonce"] = nonce

    def check_nonce(self, nonce: str) -> bool:
        """Whether it is the nonce of this login; that it comes once is checked when all else is right."""
        return hmac.compare_digest(str(self.login.get("nonce", "")).encode(), nonce.encode())

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        """Never without the cookie."""
        return False

    def set_state_valid(self, state: str, id_token_hash: str) -> None:
        """A state is good once."""

    def save_launch_data(self, key: str, jwt_body: Mapping[str, Any]) -> None:
        """Nothing of a launch is kept."""

    def write(self, response: Response, platform: int) -> None:
        """Puts the cookie into an answer. A platform posts the launch from its own site: so SameSite=None."""
        value = self._tool.prove("login", LOGIN_SECONDS, platform=platform, **self._new)
        cookie = f"{self._name(self._new['state'])}={value}; Max-Age={LOGIN_SECONDS}; Path=/; HttpOnly"
        if self._call.is_secure():
            cookie += "; Secure; SameSite=None; Partitioned"
        response.headers.append("set-cookie", cookie)
        begun = [name[len(self._name("")) :] for name in self._call.cookies if name.startswith(self._name("state-"))]
        self.forget(response, *begun[:-MOST_BEGUN])

    def forget(self, response: Response, *states: str) -> None:
        """Takes cookies away again."""
        ends = "; Secure; SameSite=None; Partitioned" if self._call.is_secure() else ""
        for name in map(self._name, states):
            if name in self._call.cookies:
                response.headers.append("set-cookie", f"{name}=; Max-Age=0; Path=/; HttpOnly{ends}")


class Platforms(ToolConfAbstract[Call]):
    """The platforms in the database."""

    def __init__(self, store: Store, tool: Tool) -> None:
        self._store, self._tool = store, tool
        self.caller: Platform | None = None

    def check_iss_has_one_client(self, iss: str) -> bool:
        """A platform may know us more than once."""
        return False

    def find_registration_by_params(self, iss: str, client_id: str, *_: Any, **__: Any) -> Registration:
        """The platform with this name, that calls us so. At a login it may leave out what it calls us."""
        there = select(Platform).where(Platform.issuer == iss)
        with self._store.reading() as session:  # no longer than this: platforms are slower to answer than databases
            matches = list(session.scalars(there.where(Platform.client == client_id) if client_id else there))
        if len(matches) != 1:
            raise LtiMessageValidationException("the platform is not registered here")
        self.caller = matches[0]
        return self._tool.registration(self.caller)

    def find_registration_by_issuer(self, iss: str, *_: Any, **__: Any) -> Registration:
        """The same."""
        return self.find_registration_by_params(iss, "")

    def find_deployment_by_params(self, iss: str, deployment_id: str, client_id: str, *_: Any, **__: Any) -> Deployment:
        """Any: whether we admit it depends on the course too, and is decided when all else is right."""
        return Deployment().set_deployment_id(deployment_id)

    def find_deployment(self, iss: str, deployment_id: str) -> Deployment:
        """The same."""
        return self.find_deployment_by_params(iss, deployment_id, "")


class _Away(Redirect[Response]):
    def __init__(self, address: str) -> None:
        self._address = address

    def do_redirect(self) -> Response:
        return RedirectResponse(self._address, 302)

    def do_js_redirect(self) -> Response:
        raise NotImplementedError

    def set_redirect_url(self, location: str) -> None:
        self._address = location

    def get_redirect_url(self) -> str:
        return self._address


class Login(OIDCLogin[Call, Platforms, LoginCookie, LoginCookie, Response]):
    """The first step: a browser says that it wants to come from a platform, and is sent there to prove it."""

    def get_redirect(self, url: str) -> Redirect[Response]:
        """To the platform."""
        return _Away(url)


@dataclass
class _Fetched:
    """A platform's public keys."""

    keys: list[dict[str, Any]] = field(default_factory=list)
    came: float = -inf
    asked: float = -inf
    done: threading.Event = field(default_factory=threading.Event)
    """Whether nobody waits for an answer."""


class Keys:
    """Platforms' public keys, remembered for a while.

    A key that isn't known is looked for again, at most once a minute, and so are those of a platform that didn't
    answer: whoever makes messages up doesn't decide how often we call it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._fetched: dict[str, _Fetched] = {}
        self._lock = threading.Lock()

    def of(self, address: str, wanted: object, trying: bool) -> list[dict[str, Any]]:
        """The keys of a platform, and among them, if need be after another look, the one that is wanted.

        Raises:
            LtiKeyException: when there are none.
        """
        with self._lock:
            now, there = self._clock(), self._fetched.setdefault(address, _Fetched())
            if now - there.came <= KEYS_SECONDS and any(key.get("kid") == wanted for key in there.keys):
                return there.keys
            asks = now - there.asked > AGAIN_SECONDS
            if asks:
                there.asked, there.done = now, threading.Event()
        if asks:
            try:
                there.keys, there.came = _fetch(address, trying), now
            finally:
                there.done.set()
        else:
            there.done.wait(WAITS_SECONDS)
        if now - there.came > KEYS_SECONDS:
            raise LtiKeyException("the platform's keys can't be fetched")
        return there.keys


def _fetch(address: str, trying: bool) -> list[dict[str, Any]]:
    try:
        reply = Calls(trying).get(address).json()
    except requests.exceptions.RequestException as error:
        raise LtiKeyException("the platform's keys can't be fetched") from error
    if not isinstance(reply, dict) or not isinstance(reply.get("keys"), list):
        raise LtiKeyException("the platform's keys can't be read")
    return [key for key in reply["keys"] if isinstance(key, dict)]


_keys = Keys()


def _is_id(text: object) -> bool:
    """Whether a platform can have meant this as a name for something, and a database can keep it."""
    return isinstance(text, str) and len(text) <= 300 and text.isprintable()


class Launch(MessageLaunch[Call, Platforms, LoginCookie, LoginCookie]):
    """The second: the platform says who it is, and signs it."""

    trying = False
    """Whether this service is a try on one machine."""

    def _get_request_param(self, key: str) -> str:
        return self._request.get_param(key)

    def validate_jwt_format(self) -> Launch:
        """Besides the library's: that the parts are what they should be."""
        super().validate_jwt_format()
        header, body = cast(Any, self._jwt.get("header")), cast(Any, self._jwt.get("body"))
        if not isinstance(header, dict) or not isinstance(body, dict):
            raise LtiMessageValidationException("it is not made as it should be")
        texts = [body.get("iss"), body.get("nonce"), body.get(f"{CLAIM}deployment_id"), body.get("sub", "")]
        if not all(map(_is_id, texts)):
            raise LtiMessageValidationException("it is not made as it should be")
        return self

    def get_client_id(self) -> str:
        """Whom it is for. With several, the platform must say which of them is meant."""
        body = cast(Any, self._get_jwt_body())
        audience, party = body.get("aud"), body.get("azp")
        several = audience if isinstance(audience, list) else [audience]
        client = party if party is not None else several[0] if len(several) == 1 else None
        if not isinstance(client, str) or client not in several:
            raise LtiMessageValidationException("it is not for us")
        return client

    def validate_jwt_signature(self) -> Launch:
        """The library's doesn't look whom it is for, nor insist on an end."""
        try:
            key, _ = self.get_public_key()
        except LtiException:
            raise
        except Exception as error:  # of whatever kind: the key is the platform's
            raise LtiKeyException("the platform's key can't be read") from error
        assert self._registration is not None
        try:
            jwt.decode(
                self._get_id_token(),
                key,
                ["RS256"],
                audience=self._registration.get_client_id(),
                issuer=self._registration.get_issuer(),
                leeway=SKEW_SECONDS,
                options=cast(Any, {"require": ["iss", "aud", "exp", "iat", "nonce"]}),
            )
        except jwt.InvalidTokenError as error:
            raise LtiMessageValidationException(f"{error}".rstrip(".")) from error
        except Exception as error:  # a key of another kind, a time without end
            raise LtiKeyException("the platform's key, or a time, can't be used") from error
        return self

    def validate_message(self) -> Launch:
        """The library's looks into claims that may be of another kind than it thinks."""
        try:
            super().validate_message()
        except (AttributeError, TypeError) as error:
            raise LtiMessageValidationException("it is not made as it should be") from error
        if not _is_id(self.texts(f"{CLAIM}context").get("id", "")):
            raise LtiMessageValidationException("it is not made as it should be")
        return self

    def fetch_public_key(self, key_set_url: str) -> Any:
        """The platform's keys."""
        return {"keys": _keys.of(key_set_url, self._jwt.get("header", {}).get("kid"), self.trying)}

    def texts(self, claim: str) -> dict[str, str]:
        """Those texts that stand in a claim."""
        content = cast(Any, self.get_launch_data()).get(claim)
        there = content.items() if isinstance(content, dict) else ()
        return {key: value for key, value in there if isinstance(value, str)}

    def role(self) -> str | None:
        """ "instructor" or "learner" by their role in the course alone: elsewhere they may be what they want.

        A learner who is somebody's assistant besides remains a learner: Open edX calls those who look after its forum
        both, and they aren't meant to see everybody's marks.
        """
        claim = cast(Any, self.get_launch_data()).get(f"{CLAIM}roles")
        roles = {self._in_course(role) for role in claim if isinstance(role, str)} if isinstance(claim, list) else set()
        ranks = {"Instructor": "instructor", "Learner": "learner", ASSISTANT: "instructor"}
        return next((rank for role, rank in ranks.items() if role in roles), None)

    @staticmethod
    def _in_course(role: str) -> str:
        """What a role is in the course. Some have parts: an instructor's assistant is one, and a learner who now and
        then instructs (`membership/Learner#Instructor`) remains a learner."""
        place, _, name = role.rpartition("#")
        if place in ("", MEMBERSHIP):
            return name
        whole = place.removeprefix(f"{MEMBERSHIP}/")
        if whole == "Instructor":
            return name if name in ("Instructor", ASSISTANT) else ""
        return whole if whole == "Learner" else ""


class Registering(DynamicRegistration):
    """We introduce ourselves to a platform, which says in turn where it is reached."""

    def __init__(self, title: str, address: str, configuration: str, token: str) -> None:
        self.client_name = title
        self.description = "Hand in notebooks, and read what came of them."
        self._address, self._configuration, self._token = address, configuration, token
        self._trying = address.startswith("http:")

    def get_request_session(self) -> Calls:
        """Ours. Canvas wants the token from the first question on, where the library doesn't give it."""
        calls = Calls(self._trying, STRANGE_LINES)
        if self._token:
            calls.headers["Authorization"] = f"Bearer {self._token}"
        return calls

    def get_openid_configuration_endpoint(self) -> str:
        """Where the platform says how it is reached."""
        return self._configuration

    def get_registration_token(self) -> Any:
        """With what we may introduce ourselves."""
        return self._token or None

    def get_initiate_login_uri(self) -> str:
        """Where a launch begins."""
        return self._address + LOGIN

    def get_jwks_uri(self) -> str:
        """Our key."""
        return self._address + KEYS

    def get_redirect_uris(self) -> list[str]:
        """Where a launch ends."""
        return [self._address + LAUNCH]

    def get_target_link_uri(self) -> str:
        """The same."""
        return self._address + LAUNCH

    def get_domain(self) -> str:
        """Ours."""
        return urlsplit(self._address).netloc

    def get_scopes(self) -> list[str]:
        """Marks, and nothing else."""
        return [SCORE]

    def get_claims(self) -> list[str]:
        """Who somebody is, and what they are called."""
        return ["iss", "sub", "name", "given_name", "family_name"]

    def get_messages(self) -> list[dict[str, Any]]:
        """Besides the plain launch, the choice of an assignment."""
        choose = {"type": "LtiDeepLinkingRequest", "target_link_uri": self._address + CHOOSE}
        return [
            {"type": "LtiResourceLinkRequest", "target_link_uri": self._address + LAUNCH},
            choose | {"label": self.client_name, "placements": ["assignment_selection"]},
        ]

    def get_logo_uri(self) -> str:
        """None."""
        return ""

    def lti_registration_data(self) -> dict[str, Any]:
        """Without what we don't have; Canvas also wants to know what we may see of people."""
        data = super().lti_registration_data()
        del data["logo_uri"]
        data[TOOL]["https://canvas.instructure.com/lti/privacy_level"] = "name_only"
        return data

    def complete_registration(
        self, openid_configuration: dict[str, Any], openid_registration: dict[str, Any]
    ) -> Platform:
        """The platform, from what it said."""
        about = openid_configuration[PLATFORM]
        name = about.get("product_family_code") if isinstance(about, dict) else None
        return platform(
            openid_configuration.get("issuer"),
            openid_registration.get("client_id"),
            openid_configuration.get("authorization_endpoint"),
            openid_configuration.get("token_endpoint"),
            openid_configuration.get("jwks_uri"),
            name=name if isinstance(name, str) else "",
            # Meant is an address; Canvas names a mere host, and doesn't mean it.
            audience=openid_configuration.get("authorization_server"),
            trying=self._trying,
        )

    def done(self) -> Platform:
        """Introduces us.

        Raises:
            GraderError: when the platform doesn't play along.
        """
        if not is_web(self._configuration, self._trying):
            raise GraderError("The platform's address should begin with https.")
        try:
            return cast(Platform, self.register())
        except GraderError:
            raise
        except Exception as error:  # the library asserts, and looks up, what a platform may well leave out
            raise GraderError("The platform did not answer as it should. Nothing was registered.") from error


def platform(
    issuer: object,
    client: object,
    login: object,
    token: object,
    keys: object,
    name: str = "",
    audience: object = "",
    trying: bool = False,
) -> Platform:
    """A platform, when all that must be said of it is there.

    Raises:
        GraderError: when something is missing, or can't be meant.
    """
    if not isinstance(issuer, str) or not 0 < len(issuer) <= 300 or not is_web(issuer, trying):
        raise GraderError("The issuer should be the platform's own address, beginning with https.")
    if not client or not _is_id(client):
        raise GraderError("The client id is missing: the platform shows it when it knows this service.")
    for what, address in (("login", login), ("token", token), ("keys", keys)):
        if not is_web(address, trying) or len(str(address)) > 2_000:
            raise GraderError(f"The address for {what} should begin with https.")
    return Platform(
        issuer=issuer,
        client=str(client),
        name=visible(f"{name}, {urlsplit(issuer).netloc}" if name else urlsplit(issuer).netloc, 200),
        login_url=str(login),
        token_url=str(token),
        keys_url=str(keys),
        audience=str(audience) if is_web(audience, trying) else "",
        made=time.time(),
    )


def as_json(value: object) -> str:
    """In one way for one value, so that two can be compared."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
