"""Marks go back while the service is killed: it and the platform run in processes and threads of their own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import requests

pytest.importorskip("pylti1p3", reason="pylti1p3next is not installed")
pytest.importorskip("lti1p3platform", reason="lti1p3platform is not installed")

from cellcheck.serving.store import open_store
from tests.serving.test_lti import Conf, Moodle, known, register
from tests.serving.test_service import LESSON, csrf, folder, link, start, stop, until

__all__ = ["folder", "link"]


@pytest.fixture
def served() -> Iterator[Moodle]:
    """A platform that is reached by http, on this machine."""
    there = Moodle(Conf(registration=known("", "", {})))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            request = requests.Request(self.command, there.at + self.path, dict(self.headers), data=body).prepare()
            answer = there.send(request, timeout=1)
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    there.at = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield there
    server.shutdown()
    server.server_close()


def hand_in(client: httpx.Client, data: bytes) -> None:
    page = client.get(f"/assignments/{LESSON}").text
    files = {"notebook": ("mine.ipynb", data)}
    assert client.post(f"/assignments/{LESSON}", data={"csrf": csrf(page)}, files=files).status_code == 200


def test_marks_go_back_whoever_was_killed(folder: Path, link: str, served: Moodle) -> None:
    running = start(folder)
    try:
        client = httpx.Client(base_url=running.address, follow_redirects=True, timeout=300)
        served.tool = running.address
        keys = client.get("/lti/keys").json()
        served.conf = Conf(registration=known(served.at, running.address, keys))
        store = open_store(folder / "class.db")
        register(store, served)
        first = client.get(served.starts(), follow_redirects=False)
        preflight = dict(parse_qsl(urlsplit(first.headers["location"]).query))
        page = client.post("/lti/launch", data=served.message(preflight, lesson=LESSON))
        assert page.status_code == 200, page.text
        hand_in(client, b"no notebook")
        until(lambda: served.scores and served.scores[-1][1]["gradingProgress"] == "Failed", running)
        assert "/submissions/1" in served.scores[-1][1]["comment"]
        served.down, told, asked = 503, len(served.scores), len(served.asked)
        hand_in(client, b"no notebook either")
        until(lambda: "/items/1/scores" in served.asked[asked:], running)
        until(lambda: "the platform answered 503" in running.log.read_text(), running)  # or it could not say so
        stop(running, signal.SIGKILL)
        served.down = 0
        assert len(served.scores) == told
        running = start(folder)
        until(lambda: served.scores[-1][1].get("comment", "").endswith("/submissions/2"), running)
        assert stop(running) is None
        log = running.log.read_text()
        for secret in (preflight["state"], preflight["nonce"], "Bearer", "Grace"):
            assert secret not in log
    finally:
        if running.process.poll() is None:
            stop(running)
