"""A platform that shows the service in a frame, in a real browser, with its cookies, policies and windows."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("pylti1p3", reason="pylti1p3next is not installed")
pytest.importorskip("lti1p3platform", reason="lti1p3platform is not installed")
pytest.importorskip("trustme", reason="trustme is not installed")

import trustme

from cellcheck.serving import lti
from cellcheck.serving.app import create_app
from cellcheck.serving.lti import tool_in
from cellcheck.serving.lti_pages import registration_link
from tests.browser.conftest import QUIET, browser, chromium, free_port
from tests.serving.conftest import Place
from tests.serving.test_lti import TEACHER, Conf, Moodle, known, register

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

FRAME = """<!DOCTYPE html><title>waiting</title>
<script>addEventListener("message", event => { document.title = event.data.subject; });</script>
<iframe src="%s" width="900" height="600"></iframe>"""
FORM = """<form method="post" action="%s/lti/launch">
<input type="hidden" name="state" value="%s"><input type="hidden" name="id_token" value="%s"></form>
<script>document.forms[0].submit();</script>"""


@dataclass
class Sites:
    """The platform's site, and ours, which are two for a browser."""

    moodle: Moodle
    framed: str = ""
    """What the platform shows in its frame."""
    chosen: str = ""

    def app(self) -> Starlette:
        async def frame(request: Request) -> Response:
            return HTMLResponse(FRAME % html.escape(self.framed))

        async def auth(request: Request) -> Response:
            choosing = "choose" in self.framed
            about: dict[str, Any] = {"role": TEACHER, "lesson": "", "choosing": True} if choosing else {}
            launch = self.moodle.message(dict(request.query_params), **about)
            return HTMLResponse(FORM % (self.moodle.tool, html.escape(launch["state"]), launch["id_token"]))

        async def took(request: Request) -> Response:
            self.chosen = str((await request.form())["JWT"])
            return HTMLResponse("<p>It is in the course now.</p>")

        return Starlette(routes=[Route("/", frame), Route("/auth", auth), Route("/chosen", took, methods=["POST"])])


@pytest.fixture
def sites(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sites]:
    ours, theirs = free_port(), free_port()
    address, at = f"https://class.localhost:{ours}", f"https://moodle.localhost:{theirs}"
    keys = tool_in(tmp_path).jwks
    registration = known(at, address, keys).set_oidc_login_url(f"{address}/lti/login")
    there = Moodle(Conf(registration=registration), at=at, tool=address)
    register(place.store, there)
    monkeypatch.setattr(lti.Calls, "get_adapter", lambda self, url: there)
    monkeypatch.setattr(lti, "_keys", lti.Keys())
    issued = trustme.CA().issue_cert("class.localhost", "moodle.localhost")
    pem = tmp_path / "both.pem"
    issued.private_key_and_cert_chain_pem.write_to_path(pem)
    sites = Sites(there)
    servers = []
    for app, port in ((create_app(place.store, place.settings, address, tmp_path), ours), (sites.app(), theirs)):
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ssl_certfile=str(pem)))
        threading.Thread(target=server.run, daemon=True).start()
        servers.append(server)
    while not all(server.started for server in servers):
        threading.Event().wait(0.05)
    yield sites
    for server in servers:
        server.should_exit = True


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def page_without_strange_cookies(browser: Browser) -> Iterator[Page]:
    """Of a browser that keeps no cookies of a site in another's frame, other than for that frame alone."""
    strict = browser.browser_type.launch(
        executable_path=chromium(), args=[*QUIET, "--test-third-party-cookie-phaseout"]
    )
    yield strict.new_page(ignore_https_errors=True)
    strict.close()


def test_a_learner_comes_from_a_frame_into_a_window(sites: Sites, page: Page) -> None:
    sites.framed = sites.moodle.starts()
    page.goto(f"{sites.moodle.at}/")
    with page.expect_popup() as opened:
        page.frame_locator("iframe").get_by_role("link", name="Open it in a new window").click()
    window = opened.value
    window.wait_for_url("**/assignments/*")
    assert window.get_by_role("link", name="Grace Hopper").is_visible()
    window.get_by_role("link", name="Grace Hopper").click()
    window.get_by_role("button", name="Make a token").click()  # forms are ours, and work
    assert "shown this once" in window.content()


@pytest.mark.parametrize("browses", ["page", "page_without_strange_cookies"])
def test_an_instructor_chooses_in_the_frame(sites: Sites, browses: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(browses)
    sites.framed = sites.moodle.starts(choosing=True)
    page.goto(f"{sites.moodle.at}/")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Lesson 2: Text in").click()
    frame.get_by_text("It is in the course now.").wait_for()
    (item,) = sites.moodle.conf.validate_deeplinking_resp({"JWT": sites.chosen})
    assert item["title"] == "Lesson 2: Text in"


def test_a_refusal_can_be_read_in_the_frame(sites: Sites, page: Page) -> None:
    sites.framed = sites.moodle.starts().replace("client+1", "client+9")
    page.goto(f"{sites.moodle.at}/")
    page.frame_locator("iframe").get_by_text("the platform is not registered here").wait_for()


def test_a_registration_in_a_frame_says_when_it_is_done(sites: Sites, page: Page, tmp_path: Path) -> None:
    link = registration_link(tool_in(tmp_path), sites.moodle.tool)
    sites.framed = f"{link}?openid_configuration={sites.moodle.at}/openid&registration_token=once"
    page.goto(f"{sites.moodle.at}/")
    page.wait_for_function("document.title === 'org.imsglobal.lti.close'")
    assert sites.moodle.registered["initiate_login_uri"] == f"{sites.moodle.tool}/lti/login"


def test_our_other_pages_stay_out_of_frames(sites: Sites, page: Page) -> None:
    sites.framed = f"{sites.moodle.tool}/"
    page.goto(f"{sites.moodle.at}/")
    page.wait_for_function("document.querySelector('iframe').contentDocument === null")
    assert page.frames[1].url.startswith("chrome-error:")
