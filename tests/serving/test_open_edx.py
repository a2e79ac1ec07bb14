"""From Open edX and back: its LTI platform as released, the service as it runs, and a browser's part played by httpx.

Open edX's platform, the package lti-consumer-xblock, brings Django along. It stays out of this project's environment:
`OPEN_EDX_PYTHON` names a Python that has it, and without one the test is left out.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("pylti1p3", reason="pylti1p3next is not installed")

from tests.browser.conftest import free_port
from tests.nightly import later
from tests.serving.test_service import CLASS, LESSON, RELEASED, csrf, folder, link, running, signed_in, until
from tests.serving.test_service import Running as Service

__all__ = ["folder", "link", "running"]

PYTHON = os.environ.get("OPEN_EDX_PYTHON", "")
pytestmark = [
    later,
    pytest.mark.skipif(
        not PYTHON,
        reason="Open edX's platform is not installed. Make it an environment of its own (python3 -m venv DIR, then "
        "DIR/bin/pip install lti-consumer-xblock cryptography), and name its Python: OPEN_EDX_PYTHON=DIR/bin/python",
    ),
]
PLAYED = Path(__file__).with_name("open_edx.py")
FORM = re.compile(r'<form[^>]*?action="([^"]+)"[^>]*>(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<input[^>]*?name="([^"]+)"[^>]*?value="([^"]*)"')


@pytest.fixture
def open_edx(running: Service, tmp_path: Path) -> Iterator[httpx.Client]:
    """The platform, which knows our service; a client for what an author or a learner does there."""
    port, log_file = free_port(), tmp_path / "open_edx"
    command = [PYTHON, str(PLAYED), str(tmp_path), str(port), running.address]
    with log_file.open("ab") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300)

    def up() -> bool:
        assert process.poll() is None, log_file.read_text()
        with suppress(httpx.TransportError):
            return client.get("/chosen").status_code == 200
        return False

    try:
        until(up, running)
        yield client
    finally:
        process.terminate()
        process.wait(300)


def sent(page: httpx.Response, browser: httpx.Client, number: int = 0) -> httpx.Response:
    """Sends a form of a page, as its script or a click does."""
    to, inside = FORM.findall(page.text)[number]
    fields = {name: html.unescape(value) for name, value in FIELD.findall(inside)}
    return browser.post(html.unescape(to), data=fields)


def launched(there: httpx.Client, what: str, **about: str) -> tuple[httpx.Client, httpx.Response]:
    """Somebody's browser, from the platform's page to whatever the service shows."""
    browser = httpx.Client(follow_redirects=True, timeout=300)
    page = browser.get(f"{there.base_url}/{what}", params=about)
    assert page.status_code == 200, page.text
    return browser, sent(page, browser)


def test_open_edx_launches_us_chooses_a_lesson_and_gets_its_marks(
    running: Service, link: str, open_edx: httpx.Client
) -> None:
    teacher = signed_in(running, link)
    author = {"who": "Grace", "role": "instructor", "named": "yes"}
    told = open_edx.get("/shown", params=author).json()
    names = {"issuer": "issuer", "client": "client_id", "login": "oidc_callback", "token": "token_url"}
    fields = {ours: told[theirs] for ours, theirs in {**names, "keys": "keyset_url"}.items()}
    proof = {"csrf": csrf(teacher.get("/class/platforms").text)}
    assert told["client_id"] in teacher.post("/class/platforms", data=proof | fields).text
    # Its course is unknown until an instructor admits it.
    _, refused = launched(open_edx, "choose", **author)
    assert refused.status_code == 403
    assert "on the page Platforms" in refused.text
    platforms = teacher.get("/class/platforms").text
    assert "Deep learning - Example" in platforms
    admitting = re.search(r"/class/courses/\d+", platforms)
    assert admitting
    assert "admit no longer" in teacher.post(admitting[0], data=proof | {"admit": "yes"}).text
    # An author chooses the lesson.
    browser, choice = launched(open_edx, "choose", **author)
    assert choice.status_code == 200, choice.text
    saved = sent(choice, browser)
    assert saved.status_code == 200, saved.text
    (item,) = open_edx.get("/chosen").json()["items"]
    assert item["type"] == "ltiResourceLink"
    assert item["custom"] == {"lesson": LESSON}
    assert item["lineItem"]["scoreMaximum"] == 20
    # A learner whom the platform names, and one whom it doesn't.
    ada, page = launched(open_edx, "open", who="Ada Lovelace", named="yes")
    assert str(page.url) == f"{running.address}/assignments/{LESSON}", page.text
    assert "Ada Lovelace" in page.text
    bob, _ = launched(open_edx, "open", who="Bob")
    for browser, learner in ((ada, "ada"), (bob, "cleo")):
        page = browser.get(f"{running.address}/assignments/{LESSON}")
        notebook = {"notebook": ("mine.ipynb", CLASS[learner].hand_in(RELEASED).encode())}
        answer = browser.post(str(page.url), data={"csrf": csrf(page.text)}, files=notebook)
        assert "It can't be lost" in answer.text
    until(lambda: len(_kept(open_edx, "Pending")) + len(_kept(open_edx, "FullyGraded")) == 2, running)
    until(lambda: len(_kept(open_edx, "FullyGraded")) == 2, running)
    graded = open_edx.get("/marks").json()["graded"]
    assert graded[0]["score"] == 1.0
    assert "11 of 11 exercises are right" in graded[0]["comment"]
    assert 0 < graded[1]["score"] < 1
    assert "decode: " in graded[1]["comment"]
    assert f"{running.address}/submissions/" in graded[1]["comment"]
    # An author is an instructor here; who looks after a forum there is not.
    people = teacher.get("/class").text
    assert "Ada Lovelace" in people
    assert re.search(r"127\.0\.0\.1\S* [0-9a-f]{8}", people)  # whom the platform doesn't name
    assert "did not arrive" not in teacher.get("/class/platforms").text
    for who, role, comes_in in (("Grace", "instructor", 200), ("Eve", "Community TA", 404)):
        browser, page = launched(open_edx, "open", who=who, role=role, named="yes")
        assert who in page.text
        assert browser.get(f"{running.address}/class").status_code == comes_in


def _kept(there: httpx.Client, progress: str) -> list[Any]:
    return [one for one in there.get("/marks").json()["kept"] if one["progress"] == progress]
