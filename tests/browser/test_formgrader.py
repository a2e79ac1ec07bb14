"""Formgrader, as `make formgrader` opens it: a graded class, a submission with its marks, nbgrader's own buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Locator, Page, expect

from cellcheck.demo.learners import Learner
from cellcheck.demo.run import exchange_step, hand_in, make_course
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from tests.browser.axe import violations
from tests.warm import run
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

if TYPE_CHECKING:
    from tests.browser.conftest import Serve

REPOSITORY = Repository.find(Path(__file__).parent)
SECONDS = 1000
OPTION = "--LabApp.default_url=/formgrader"
CLASS = {learner.name: learner for learner in HONEST}
GRADED, LATE = ("chidi", "eli"), "bela"
SCORES = {"chidi": "20 / 24", "eli": "9 / 24", LATE: "24 / 24"}
WIDTHS = (1280, 390)


@dataclass(frozen=True)
class Class:
    """An instructor's folder, its exchange, and the server that shows it."""

    course: Course
    exchange: Path
    address: str

    def hand_in(self, learner: Learner) -> None:
        hand_in(self.course, self.exchange, learner)

    def feedback(self, name: str) -> str:
        return self.course.feedback(name, LESSON).as_uri()


@pytest.fixture(scope="module")
def graded(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """Two learners' notebooks: released, submitted, collected, and graded by `cellcheck autograde`."""
    course, exchange = make_course(REPOSITORY, tmp_path_factory.mktemp("class") / "new", (LESSON,))
    course.ensure_assignment(LESSON)
    exchange_step(course, "ReleaseAssignment", LESSON)
    for name in GRADED:
        hand_in(course, exchange, CLASS[name])
    exchange_step(course, "Collect", LESSON)
    done = run(["cellcheck", "autograde", LESSON], course.root, {"PYTHONPATH": str(REPOSITORY.root)})
    assert done.code == 0, done.output
    assert OPTION in (REPOSITORY.root / "Makefile").read_text("utf-8")
    with serve(course.root, OPTION) as address:
        yield Class(course, exchange, address)


def row(page: Page, text: str) -> Locator:
    return page.locator("tbody tr", has_text=text)


def press(page: Page, button: Locator, sentence: str) -> None:
    """Presses a button of a row, waits for what it says, and puts that away."""
    button.click()
    dialog = page.locator(".modal.in")
    expect(dialog).to_contain_text(sentence, timeout=300 * SECONDS)
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)


def test_it_opens_with_the_class_and_its_marks(graded: Class, page: Page) -> None:
    page.goto(graded.address)
    expect(page).to_have_url(re.compile(r"/formgrader"))
    expect(row(page, LESSON).locator(".status")).to_have_text("released")
    expect(page.locator(".alert:visible")).to_have_count(0)  # its exchange is there
    row(page, LESSON).get_by_role("link", name=str(len(GRADED)), exact=True).click()
    for name in GRADED:
        expect(row(page, name).locator(".status")).to_have_text("graded")
        expect(row(page, name).locator(".score")).to_have_text(SCORES[name])


def test_it_opens_in_jupyterlab(graded: Class, page: Page) -> None:
    page.goto(f"{graded.address}/lab")
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    inside = page.frame_locator("iframe[src*=formgrader]")
    expect(inside.locator("tbody tr", has_text=LESSON)).to_be_visible()


def test_a_submission_and_its_marks(graded: Class, page: Page) -> None:
    page.goto(f"{graded.address}/formgrader/gradebook/{LESSON}/{LESSON}")
    row(page, SCORES["chidi"]).locator("a.name-hidden").click()
    marks = {"batched_dot": "0", "pick": "1", "mlp_predict_numpy": "2", "mse_loss": "0", "sgd_step": "0", "train": "3"}
    for symbol, mark in marks.items():
        expect(page.locator(f"#test_{symbol}")).to_have_attribute("placeholder", mark)
    expect(page.get_by_text("mlp_predict_numpy").first).to_be_visible()
    # Every picture of the lesson is in the notebook itself.
    elsewhere = page.eval_on_selector_all("img", "all => all.map(i => i.src).filter(s => !s.startsWith('data:'))")
    assert elsewhere == []


def test_its_own_buttons_take_a_late_submission_from_release_to_marks(graded: Class, page: Page) -> None:
    page.goto(f"{graded.address}/formgrader/manage_assignments")
    lesson = row(page, LESSON)
    released = graded.course.root / "notebooks" / LESSON / f"{LESSON}.ipynb"
    released.write_text("{}")
    press(page, lesson.locator(".assign a"), "Successfully created the student version")
    assert released.read_bytes() == REPOSITORY.notebook(LESSON).read_bytes()

    outbound = graded.exchange / graded.course.directory.course_id / "outbound" / LESSON / f"{LESSON}.ipynb"
    press(page, lesson.locator(".release a"), "Successfully unreleased")
    assert not outbound.exists()
    press(page, lesson.locator(".release a"), "Successfully released")
    assert outbound.read_bytes() == released.read_bytes()

    graded.hand_in(CLASS[LATE])
    press(page, lesson.locator(".collect a"), "Successfully collected")
    lesson.get_by_role("link", name=str(len(GRADED) + 1), exact=True).click()
    expect(row(page, LATE).locator(".status")).to_have_text("needs autograding")
    press(page, row(page, LATE).locator(".autograde a"), "Successfully autograded")
    expect(row(page, LATE).locator(".status")).to_have_text("graded")
    for name, score in SCORES.items():
        expect(row(page, name).locator(".score")).to_have_text(score)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_feedback_page(graded: Class, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(graded.feedback("chidi"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Lesson 1: Points in, curve out")
    expect(page.locator(".score")).to_have_text("20 of 24 points")
    expect(page.get_by_role("meter")).to_have_accessible_name("Points")
    expect(page.get_by_text("10 of 13 exercises are right.")).to_be_visible()
    page.get_by_role("link", name="mse_loss", exact=True).click()
    section = page.locator("#mse_loss")
    expect(section).to_be_in_viewport()
    expect(section).to_contain_text("Which division turns a sum into a mean?")
    expect(section.get_by_text("def mse_loss")).to_be_visible()  # what was handed in stands below its card
    expect(page.locator("#pick").get_by_text("def pick")).to_be_hidden()
    page.locator("#pick").get_by_text("Your code").click()
    expect(page.locator("#pick").get_by_text("def pick")).to_be_visible()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width  # nothing makes the page scroll sideways
    outside = page.eval_on_selector_all(
        "main p, main td, main th, main h2, main li",
        "all => all.filter(e => e.checkVisibility() && !e.closest('section') && e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.textContent)",
    )
    assert outside == []
    assert [address for address in asked if not address.startswith("file:")] == []  # it needs nothing else
    assert re.search(r"\beli\b", page.content()) is None
    is_open_to_everybody(page)


def is_open_to_everybody(page: Page) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert violations(page) == [], scheme


@pytest.mark.parametrize("width", WIDTHS)
def test_the_class_page(graded: Class, page: Page, width: int) -> None:
    page_file = graded.course.root / "class.html"
    done = run(["cellcheck", "report", LESSON, "--html", page_file.name], graded.course.root)
    assert done.code == 0, done.output
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(page_file.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("Lesson 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    is_open_to_everybody(page)
