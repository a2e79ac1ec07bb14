"""The service's pages in a real browser: readable, for everybody, on a phone and in the dark."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import uvicorn

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from cellcheck.serving.app import create_app
from tests.browser.axe import violations
from tests.browser.conftest import browser, free_port, page
from tests.serving.conftest import LESSON, Place

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["browser", "page"]


@pytest.fixture
def pages(place: Place) -> dict[str, str]:
    """Each kind of page, with something on it."""
    teacher, ada = place.browser("teacher"), place.browser("ada")
    ada.hand_in(b"1")
    place.grade(7.5)
    ada.post("/submissions/1/ask", why="Is pick not right?")
    ada.hand_in(b"2")
    return {
        "welcome": place.browser("").get("/"),
        "signing in": place.browser("").get("/sign-in/abc"),
        "home": ada.get("/"),
        "assignment": ada.get(f"/assignments/{LESSON}"),
        "graded": ada.get("/submissions/1"),
        "waiting": ada.get("/submissions/2"),
        "me": ada.post("/me/tokens", 200),
        "class": teacher.post("/class/people", 200, names="eve\nfinn"),
        "person": teacher.get(f"/class/{ada.person}"),
        "log": teacher.get("/class/log"),
        "platforms": teacher.post("/class/platforms/link", 200),
        "nothing": ada.get("/nothing", 404),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_every_page(pages: dict[str, str], page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for name, html in pages.items():
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.set_content(html.replace('src="/live.js"', ""))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        assert violations(page) == [], (name, scheme)


def test_the_form_is_reached_by_keyboard(pages: dict[str, str], page: Page) -> None:
    page.set_content(pages["assignment"])
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert "notebook" in reached
    assert "Hand it in" in reached


def test_the_feedback_is_shown_in_its_page_and_runs_nothing(place: Place, page: Page) -> None:
    evil = "<p id=said>what the card says</p><script>document.getElementById('said').textContent = 'ran'</script>"
    ada = place.browser("ada")
    ada.hand_in(b"1")
    place.grade(7.5, page=evil)
    app = create_app(place.store, place.settings, address := f"http://127.0.0.1:{(port := free_port())}")
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        page.context.add_cookies([{"name": "session", "value": ada.session, "url": address}])
        page.goto(f"{address}/submissions/1")
        frame = page.frame_locator("iframe")
        assert frame.locator("#said").inner_text() == "what the card says"
        ada.hand_in(b"2")
        page.goto(f"{address}/submissions/2")
        assert "next in the queue" in page.locator("#live").inner_text()
        place.grade(9.0)
        page.get_by_text("9 of 24 points").wait_for()  # without anybody reloading it
    finally:
        server.should_exit = True
        thread.join()
