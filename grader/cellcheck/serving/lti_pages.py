"""From Moodle, Canvas and others: the two steps of a launch, the choice of an assignment, and registrations.

In a frame of another site browsers keep no cookies, and our pages let nobody frame them. So a launch in a frame stops
at its first step, before anything is used up, and shows a link that takes the same step in a window of its own. Only
the choice of an assignment happens in the platform's frame: it needs no session, and its answer belongs there.
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from cellcheck.errors import GraderError
from cellcheck.plain import draws_nothing, visible
from cellcheck.serving import people
from cellcheck.serving.app import HEADERS, Asked, Door, Handler, Service, _refuse, route
from cellcheck.serving.lti_tables import Destination, Identity, Platform, PlatformCourse, Used
from cellcheck.serving.pages import render
from cellcheck.serving.settings import Rules
from cellcheck.serving.tables import INSTRUCTOR, LEARNER, SESSION, Person

if TYPE_CHECKING:
    from cellcheck.serving.lti import Call, Launch, LoginCookie, Tool

MOST_BYTES = 200_000
"""Of a launch."""
MOST_KNOCKING = 50
"""Courses of one platform that nobody has admitted yet."""
REGISTER_SECONDS = people.DAY
ONCE_MORE = "Go back to the platform, and open the assignment once more."
FIELDS = ("iss", "login_hint", "target_link_uri", "lti_message_hint", "lti_deployment_id", "client_id")


def _framed(form: str = "") -> dict[str, str]:
    """The headers of those few pages that other sites may show in a frame. They hold no session's secrets."""
    policy = HEADERS["Content-Security-Policy"].replace("frame-ancestors 'none'", "frame-ancestors https:")
    if form:
        policy = policy.replace("form-action 'self'", f"form-action {form}")
    # Where a policy names frame-ancestors, browsers don't look at X-Frame-Options.
    return {"Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "unsafe-none"}


def _framed_page(asked: Asked, name: str, form: str = "", **values: Any) -> Response:
    """One of them. A platform next door, of the same site, would have the session too: it isn't looked at."""
    page = render(name, visitor=None, title=asked.service.settings.title, **values)
    page.headers.update(_framed(form))
    return page


def _readable(handler: Handler) -> Handler:
    """A handler whose refusals can be read in a platform's frame too."""

    def handled(asked: Asked) -> Response:
        try:
            return handler(asked)
        except (HTTPException, GraderError) as error:
            answer = _refuse(asked.request, error)
            answer.headers.update(_framed())
            return answer

    return handled


def tool_of(service: Service) -> Tool:
    """The key, and what goes with it.

    Raises:
        GraderError: where LTI isn't installed, or there is no folder for the key.
    """
    try:
        from cellcheck.serving.lti import tool_in
    except ModuleNotFoundError as error:
        raise GraderError(f'{error.name} is not installed here: pip install "cellcheck[lti]".') from error
    if service.folder is None:
        raise GraderError("This service has no folder for its private key.")
    return tool_in(service.folder)


def registration_link(tool: Tool, address: str) -> str:
    """A link that registers one platform, within a day."""
    return f"{address.rstrip('/')}/lti/register/{tool.prove('register', REGISTER_SECONDS)}"


def _call(asked: Asked, tool: Tool) -> tuple[Call, LoginCookie]:
    from cellcheck.serving.lti import Call, LoginCookie

    if asked.request.method == "POST":
        if len(asked.body) > MOST_BYTES:
            raise HTTPException(413)
        try:
            pairs = parse_qsl(asked.body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
        except ValueError as error:
            raise HTTPException(400) from error
    else:
        pairs = list(asked.request.query_params.items())
    call = Call(dict(pairs), asked.request.cookies, asked.service.secure)
    return call, LoginCookie(tool, call)


def _refused(asked: Asked, error: Exception | str) -> HTTPException:
    """What somebody reads whose launch isn't right; who tries too often waits."""
    address = asked.request.client.host if asked.request.client else ""
    if not asked.service.knocks.allows(address):
        return HTTPException(429, headers={"Retry-After": "60"})
    why = f"{error}".rstrip(".")
    return HTTPException(403, f"The platform's message was not accepted: {visible(why)}. {ONCE_MORE}")


def login(asked: Asked) -> Response:
    """The first step. In a frame: a link that takes it in a window of its own."""
    tool = tool_of(asked.service)
    from cellcheck.serving.lti import CHOOSE, LAUNCH, LOGIN, REFUSED, Login, Platforms

    call, cookie = _call(asked, tool)
    address = asked.service.address
    platforms = Platforms(asked.service.store, tool)
    try:
        step = Login(call, platforms, session_service=cookie, cookie_service=cookie)
        answer = step.redirect(address + LAUNCH)
    except REFUSED as error:
        raise _refused(asked, error) from error
    there = platforms.caller
    assert there is not None
    choosing = call.get_param("target_link_uri").partition("?")[0] == address + CHOOSE
    if asked.request.headers.get("sec-fetch-dest", "document") != "document" and not choosing:
        fields = {name: call.get_param(name) for name in FIELDS if call.get_param(name)}
        return _framed_page(asked, "lti_window", link=f"{LOGIN}?{urlencode(fields)}", platform=there.name)
    cookie.write(answer, there.id)
    return answer


def launch(asked: Asked) -> Response:
    """The second step: somebody comes in, or an instructor chooses an assignment."""
    tool = tool_of(asked.service)
    from cellcheck.serving.lti import CLAIM, LOGIN_SECONDS, REFUSED, Launch, Platforms, spend

    call, cookie = _call(asked, tool)
    platforms = Platforms(asked.service.store, tool)
    arrival = Launch(call, platforms, session_service=cookie, cookie_service=cookie)
    arrival.trying = not asked.service.secure
    try:
        arrival.validate()
    except REFUSED as error:
        if str(error) == "State not found":
            error = type(error)("this browser did not begin it, has kept no cookie of it, or took too long")
        raise _refused(asked, error) from error
    there = platforms.caller
    assert there is not None
    data: Any = arrival.get_launch_data()
    if cookie.login["platform"] != there.id:
        raise _refused(asked, "it comes from another platform than it began at")
    with asked.service.store.writing() as session:
        new = spend(session, f"nonce {there.id} {data['nonce']}", time.time() + 2 * LOGIN_SECONDS)
        course = _course(session, there, data[f"{CLAIM}deployment_id"], arrival) if new else None
    if not new:
        raise _refused(asked, "it was used before")
    if course is None or not course.admitted:
        raise HTTPException(
            403,
            "This course isn't known here yet. An instructor of this class admits it, on the page Platforms; then open "
            "the assignment once more.",
        )
    role = arrival.role()
    if role is None:
        with asked.service.store.writing() as session:
            identity = _known(session, there, data)
            if identity is not None:
                _is_now(session, there, identity.person, LEARNER)
        raise HTTPException(403, "Only a course's learners and instructors come in here.")
    if arrival.is_deep_link_launch():
        if role != INSTRUCTOR:
            raise HTTPException(403, "Only an instructor chooses assignments.")
        answer = _choice(asked, arrival)
    elif arrival.is_resource_launch():
        answer = _come_in(asked, arrival, there, role)
    else:
        raise HTTPException(400, "This service opens assignments, and lets instructors choose them; nothing else.")
    cookie.forget(answer, call.get_param("state"))
    return answer


def _course(session: Session, there: Platform, deployment: str, arrival: Launch) -> PlatformCourse | None:
    """Where somebody comes from; the first time, that is noted, for an instructor to decide."""
    from cellcheck.serving.lti import CLAIM

    about = arrival.texts(f"{CLAIM}context")
    key = {"platform_id": there.id, "deployment": deployment, "context": about.get("id", "")}
    course = session.scalar(select(PlatformCourse).filter_by(**key))
    if course is None:
        waiting = select(func.count(PlatformCourse.id)).where(
            PlatformCourse.platform_id == there.id, ~PlatformCourse.admitted
        )
        if (session.scalar(waiting) or 0) >= MOST_KNOCKING:
            return None
        title = visible(about.get("title") or about.get("label") or "a course without a title", 200)
        course = PlatformCourse(**key, title=title, admitted=False)
        session.add(course)
    return course


def _come_in(asked: Asked, arrival: Launch, there: Platform, role: str) -> Response:
    """Signs somebody in, and leads to the assignment."""
    from cellcheck.serving.lti import AGS_CLAIM, CLAIM, SCORE, is_web

    data: Any = arrival.get_launch_data()
    lesson = arrival.texts(f"{CLAIM}custom").get("lesson", "")
    rules = _assignment(asked.service, lesson) if lesson else None
    with asked.service.store.writing() as session:
        identity = _identity(session, there, data, role)
        _is_now(session, there, identity.person, role)
        ags = data.get(AGS_CLAIM)
        item: Any
        item, scopes = (ags.get("lineitem"), ags.get("scope")) if isinstance(ags, dict) else ("", ())
        takes = is_web(item, not asked.service.secure) and len(item) <= 1_000
        if rules is not None and role == LEARNER and takes and isinstance(scopes, list) and SCORE in scopes:
            _note_destination(session, identity, rules.lesson, item)
        secret = people.make_key(session, identity.person, SESSION)
    answer = RedirectResponse(f"/assignments/{rules.lesson}" if rules is not None else "/", 303)
    asked.service.let_in(answer, secret)
    return answer


def _known(session: Session, there: Platform, data: dict[str, Any]) -> Identity | None:
    return session.scalar(select(Identity).filter_by(platform_id=there.id, subject=data["sub"]))


def _is_now(session: Session, there: Platform, person: Person, role: str) -> None:
    """Somebody's role. What opened the door for another one, here or in the hands of others, does so no longer."""
    if person.role != role:
        people.take_keys(session, person)
        people.note(session, person.name, f"came from {there.name}, and is no longer {person.role} but {role}")
        person.role = role


def _assignment(service: Service, lesson: str) -> Rules:
    """The assignment that a link names, in full or by its number."""
    matches = [one for name, one in service.settings.assignments.items() if lesson in (name, name.split("_")[0])]
    if not matches:
        raise HTTPException(404, f"There is no assignment {visible(lesson)} in this class. Ask your instructor.")
    return matches[0]


def _identity(session: Session, there: Platform, data: dict[str, Any], role: str) -> Identity:
    """Who the platform says this is; whoever comes for the first time is added to the class."""
    identity = _known(session, there, data)
    if identity is None:
        person = people.add(session, _free_name(session, there, data), role)
        identity = Identity(platform_id=there.id, subject=data["sub"], person=person)
        session.add(identity)
        session.flush()
        if role == INSTRUCTOR:
            people.note(session, person.name, f"came from {there.name} as {role}, for the first time")
    return identity


def _free_name(session: Session, there: Platform, data: dict[str, Any]) -> str:
    """What they are called at the platform; with a number where somebody here is called so. Names prove nothing."""
    parts = [data.get("name")] if data.get("name") else [data.get("given_name"), data.get("family_name")]
    name = " ".join(part for part in parts if isinstance(part, str))
    name = " ".join("".join(letter for letter in name if not draws_nothing(letter) or letter == " ").split())
    name = people.as_kept(name)[:150]
    if not name:  # the platform doesn't say
        name = f"{there.name[:100]} {hashlib.sha256(data['sub'].encode()).hexdigest()[:8]}"
    chosen, number = name, 1
    while people.named(session, chosen) is not None:
        number += 1
        chosen = f"{name} ({number})"
    return chosen


def _note_destination(session: Session, identity: Identity, lesson: str, item: str) -> None:
    key = {"identity_id": identity.id, "lesson": lesson, "line_item": item}
    if session.scalar(select(Destination.id).filter_by(**key)) is None:
        session.add(Destination(**key))


def _choice(asked: Asked, arrival: Launch) -> Response:
    """The assignments: for each a form that takes it to the platform, signed."""
    from pylti1p3.deep_link_resource import DeepLinkResource
    from pylti1p3.lineitem import LineItem

    from cellcheck.serving.lti import LAUNCH, is_web

    link = arrival.get_deep_link()
    to: Any = link._deep_link_settings.get("deep_link_return_url")
    if not is_web(to, not asked.service.secure):
        raise HTTPException(400, "The platform does not say where the choice should go.")
    forms = []
    for rules in asked.service.settings.assignments.values():
        resource = DeepLinkResource().set_title(rules.title).set_url(asked.service.address + LAUNCH)
        resource.set_custom_params({"lesson": rules.lesson})
        item = LineItem().set_label(rules.title).set_resource_id(rules.lesson).set_score_maximum(_points(rules.lesson))
        message: Any = link.get_message_jwt([resource.set_lineitem(item)])
        (content,) = message["https://purl.imsglobal.org/spec/lti-dl/claim/content_items"]
        content["window"] = {"targetName": "_blank"}  # a launch in a frame takes one click more
        data = "https://purl.imsglobal.org/spec/lti-dl/claim/data"
        if message[data] is None:
            del message[data]
        forms.append((rules.title, link.encode_jwt(message)))  # type: ignore[no-untyped-call]
    place = urlsplit(to)
    return _framed_page(asked, "lti_choose", f"https: {place.scheme}://{place.netloc}", to=to, forms=forms)


@cache
def _points(lesson: str) -> float:
    """What there is to earn: as the released notebook says, which is read more quickly than the lesson is loaded."""
    from cellcheck.syllabus import find_lesson, load_lesson

    syllabus, name = find_lesson(lesson)
    try:
        cells = json.loads(syllabus.notebook(name).read_text("utf-8"))["cells"]
        points = sum(float(cell["metadata"].get("nbgrader", {}).get("points") or 0.0) for cell in cells)
    except (OSError, ValueError, LookupError):
        points = 0.0
    return points or sum(exercise.points for exercise in load_lesson(lesson).exercises)


def keys(asked: Asked) -> Response:
    """Our public key."""
    return JSONResponse(tool_of(asked.service).jwks, headers={"Cache-Control": "max-age=3600"})


def register(asked: Asked) -> Response:
    """A platform opens a registration link: we introduce ourselves, once."""
    tool, proof = tool_of(asked.service), asked.request.path_params["secret"]
    read = tool.read("register", proof)
    from cellcheck.serving.lti import Registering, spend

    with asked.service.store.reading() as session:
        used = read is not None and session.get(Used, hashlib.sha256(read["jti"].encode()).hexdigest()) is not None
    address = asked.request.client.host if asked.request.client else ""
    if not asked.service.knocks.allows(address):  # each try sends requests of ours to where it says
        raise HTTPException(429, headers={"Retry-After": "60"})
    if read is None or used:
        raise HTTPException(401, "This registration link was used already, or is too old. Make a new one.")
    configuration = asked.request.query_params.get("openid_configuration", "")
    if not configuration:
        raise HTTPException(400, "Give this link to your platform, where it asks for a registration URL.")
    token = asked.request.query_params.get("registration_token", "")
    new = Registering(asked.service.settings.title, asked.service.address, configuration, token).done()
    with asked.service.store.writing() as session:
        if not spend(session, read["jti"], read["exp"]):
            raise HTTPException(401, "This registration link was used already.")
        _add(session, new)
        people.note(session, "a registration link", f"registered {new.issuer} as {new.client}")
    return _framed_page(asked, "lti_registered", platform=new.name)


def _add(session: Session, new: Platform) -> None:
    if session.scalar(select(Platform.id).filter_by(issuer=new.issuer, client=new.client)) is not None:
        raise GraderError("This registration is known already. Remove it first.")
    session.add(new)
    session.flush()


def close(asked: Asked) -> Response:
    """The script that tells a platform that its registration is done."""
    script = (files("cellcheck.serving") / "templates" / "lti_close.js").read_text("utf-8")
    return Response(script, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": "max-age=3600"})


def platforms(asked: Asked, link: str = "") -> Response:
    """The platforms, their courses, and how marks arrive."""
    tool_of(asked.service)
    from cellcheck.serving.lti import CHOOSE, KEYS, LAUNCH, LOGIN

    with asked.service.store.reading() as session:
        failing = select(Identity.platform_id, func.count(Destination.id), func.max(Destination.error))
        failing = failing.join(Identity).where(Destination.error != "").group_by(Identity.platform_id)
        return asked.page(
            "platforms",
            platforms=list(session.scalars(select(Platform).order_by(Platform.id))),
            courses=list(session.scalars(select(PlatformCourse).order_by(PlatformCourse.admitted, PlatformCourse.id))),
            failing={platform: (count, error) for platform, count, error in session.execute(failing)},
            link=link,
            ours={"Login": LOGIN, "Launch, or redirect": LAUNCH, "Content selection": CHOOSE, "Public keys": KEYS},
            site=asked.service.address,
        )


def make_link(asked: Asked) -> Response:
    """A registration link, shown once."""
    link = registration_link(tool_of(asked.service), asked.service.address)
    with asked.service.store.writing() as session:
        people.note(session, asked.who.name, "made a registration link for a platform")
    return platforms(asked, link)


def add_platform(asked: Asked) -> Response:
    """A platform by hand, where there is no dynamic registration."""
    tool_of(asked.service)
    from cellcheck.serving.lti import platform

    fields = {name: asked.text(name) for name in ("issuer", "client", "login", "token", "keys")}
    new = platform(**fields, trying=not asked.service.secure)
    with asked.service.store.writing() as session:
        _add(session, new)
        people.note(session, asked.who.name, f"registered {new.issuer} as {new.client}")
    return RedirectResponse("/class/platforms", 303)


def remove_platform(asked: Asked) -> Response:
    """Nobody comes from there any more, and no mark goes there. The people stay."""
    with asked.service.store.writing() as session:
        there = session.get(Platform, asked.number("id"))
        if there is None:
            raise HTTPException(404)
        if asked.text("client") != there.client:
            raise GraderError(f"To remove it, write the client id, {there.client}, into the field.")
        people.note(session, asked.who.name, f"removed the platform {there.issuer}")
        session.execute(delete(Platform).where(Platform.id == there.id))
    return RedirectResponse("/class/platforms", 303)


def admit(asked: Asked) -> Response:
    """Admits a course, or takes that back."""
    with asked.service.store.writing() as session:
        course = session.get(PlatformCourse, asked.number("id"))
        if course is None:
            raise HTTPException(404)
        course.admitted = asked.text("admit") == "yes"
        did = "admitted" if course.admitted else "no longer admits"
        people.note(session, asked.who.name, f"{did} the course {course.title} of {course.platform.name}")
    return RedirectResponse("/class/platforms", 303)


def kept_for(session: Session, person: int) -> list[dict[str, object]]:
    """What is kept about somebody and the platforms that they came from."""
    return [
        {
            "platform": identity.platform.issuer,
            "subject": identity.subject,
            "marks": [
                {"lesson": one.lesson, "line_item": one.line_item, "told": one.told, "told_at": one.told_at}
                for one in session.scalars(select(Destination).where(Destination.identity_id == identity.id))
            ],
        }
        for identity in session.scalars(select(Identity).where(Identity.person_id == person))
    ]


ROUTES = (
    route("/lti/login", _readable(login), Door.everybody),
    route("/lti/login", _readable(login), Door.everybody, "POST", reads="body"),
    route("/lti/launch", _readable(launch), Door.everybody, "POST", reads="body"),
    route("/lti/keys", keys, Door.everybody),
    route("/lti/register/{secret}", _readable(register), Door.everybody),
    route("/lti/close.js", close, Door.everybody),
    route("/class/platforms", platforms, Door.teachers),
    route("/class/platforms", add_platform, Door.teachers, "POST"),
    route("/class/platforms/link", make_link, Door.teachers, "POST"),
    route("/class/platforms/{id:number}/remove", remove_platform, Door.teachers, "POST"),
    route("/class/courses/{id:number}", admit, Door.teachers, "POST"),
)
