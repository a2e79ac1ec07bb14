"""Takes the pictures of Formgrader and of a feedback page that stand in the guide for instructors.

    python -m environment.formgrader    # two minutes; make pictures does it too

A small class is made as `cellcheck demo` makes one: released, handed in, graded. One question is worth points, with a
rubric in its text, and one answer to it is graded by hand, in a browser (Chromium), as an instructor does it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from cellcheck.demo.learners import Learner
from cellcheck.demo.run import exchange_step, make_course
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
ASSIGNMENTS, BY_HAND, FEEDBACK = (
    ROOT / "docs" / f"formgrader_{name}.png" for name in ("assignments", "by_hand", "page")
)
WORTH = 3
RUBRIC = f"""

**This answer is worth {WORTH} points:** one for what a loss at the targets' variance says, one for a cause that
fits it, and one for what you would ask for."""
ANSWERS = {
    "chidi": "The loss is as large as the variance of the targets, so the network always says about the same number, "
    "the mean. I would ask to see the shapes of the predictions and the targets.",
    "eli": "The network is too small. I would add layers and train for longer.",
}
POINTS, COMMENT = 2, "You found what the loss says, and the right question. What would you expect to see in the shapes?"
COLOURS, MOST_BYTES = 64, 150_000
SECONDS = 1000


def draw() -> None:
    """Makes the class, and takes all three."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        course = a_graded_class(Path(folder) / "class")
        with formgrader(course.root, Path(folder) / "home") as address:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            _assignments(browser, address)
            _by_hand(browser, address)
            cellcheck(course, "feedback", LESSON)
            _feedback(browser, course)
            browser.close()


def a_graded_class(folder: Path) -> Course:
    """Three learners' work, collected and graded, with a question that is left to do by hand."""
    course, exchange = make_course(Repository.find(ROOT), folder, (LESSON,))
    source = course.root / "solutions" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(source.read_text("utf-8"))
    place = _question(notebook)
    notebook["cells"][place]["metadata"]["nbgrader"]["points"] = WORTH
    notebook["cells"][place - 1]["source"] += [RUBRIC]
    source.write_text(json.dumps(notebook), "utf-8")
    course.ensure_assignment(LESSON)
    exchange_step(course, "ReleaseAssignment", LESSON)
    for learner in HONEST:
        if learner.name in ("bela", *ANSWERS):
            _hand_in(course, exchange, learner)
    exchange_step(course, "Collect", LESSON)
    cellcheck(course, "autograde", LESSON)
    return course


def _question(notebook: dict) -> int:  # type: ignore[type-arg]
    """Where the answer to the question in words stands."""
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return names.index("explain")


def _hand_in(course: Course, exchange: Path, learner: Learner) -> None:
    released = exchange / course.directory.course_id / "outbound" / LESSON / f"{LESSON}.ipynb"
    notebook = learner.fill_in(released.read_text("utf-8"))
    notebook.cells[_question(notebook)].source = ANSWERS.get(learner.name, "")
    home = exchange.parent / "homes" / learner.name
    (home / LESSON).mkdir(parents=True)
    (home / LESSON / f"{LESSON}.ipynb").write_text(json.dumps(notebook), "utf-8")
    exchange_step(course, "Submit", LESSON, student=learner.name, folder=home)


def cellcheck(course: Course, *words: str) -> None:
    """Runs a command in the class's folder."""
    subprocess.run([sys.executable, "-m", "cellcheck", *words], cwd=course.root, env=_around(), check=True)


def _around() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_", "NBGRADER"))}
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT)}


@contextmanager
def formgrader(folder: Path, home: Path) -> Iterator[str]:
    """Formgrader on a class's folder, as `make formgrader` opens it; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    around = _around() | {"HOME": str(home)}
    around |= {f"JUPYTER_{what}_DIR": str(home / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--ServerApp.port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--LabApp.default_url=/formgrader"]
    server = subprocess.Popen(command, cwd=folder, env=around, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}/formgrader"
        for _ in range(1200):
            try:
                urllib.request.urlopen(address)
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _assignments(browser: Browser, address: str) -> None:
    page = _page(browser, 1260, 470)
    page.goto(f"{address}/manage_assignments")
    page.get_by_text(LESSON).first.wait_for()
    page.wait_for_timeout(SECONDS)
    _keep(page, ASSIGNMENTS)


def _by_hand(browser: Browser, address: str) -> None:
    page = _page(browser, 1000, 760)
    page.goto(f"{address}/gradebook/{LESSON}/{LESSON}")
    row = page.locator("tbody tr").filter(has=page.locator("td.score", has_text="20 / ")).first
    row.locator("a.name-hidden").click()
    field = page.locator("input#explain")
    field.scroll_into_view_if_needed()
    field.fill(str(POINTS))
    field.press("Tab")
    comment = page.locator("textarea").filter(visible=True).last
    comment.fill(COMMENT)
    comment.press("Tab")
    page.wait_for_timeout(2 * SECONDS)
    field.evaluate("field => window.scrollTo(0, field.getBoundingClientRect().top + window.scrollY - 420)")
    page.wait_for_timeout(SECONDS)
    _keep(page, BY_HAND)


def _feedback(browser: Browser, course: Course) -> None:
    page = _page(browser, 900, 900)
    page.goto(course.feedback("chidi", LESSON).as_uri())
    _keep(page, FEEDBACK)


def _page(browser: Browser, width: int, height: int) -> Page:
    return browser.new_page(viewport={"width": width, "height": height}, color_scheme="light", device_scale_factor=1.5)


def _keep(page: Page, path: Path) -> None:
    drawn = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)
    assert path.stat().st_size <= MOST_BYTES, f"{path} has {path.stat().st_size} bytes"


if __name__ == "__main__":
    draw()
