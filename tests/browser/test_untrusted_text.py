"""A learner's text in the instructor's browser: what would run with plain nbgrader does not with ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Page

from cellcheck.demo.run import make_course
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from tests.warm import run
from transformer_course.lessons.lesson_01.demo import LESSON

if TYPE_CHECKING:
    from tests.browser.conftest import Serve

REPOSITORY = Repository.find(Path(__file__).parent)
OURS, PLAIN = "ada", "bela"
OPTION = "--LabApp.default_url=/formgrader"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one, red

ANSWER = """**Because** of $a<b$:

- one
- two

![pixel](attachment:pixel.png)

"""
RUN = "(window.ran = window.ran || []).push"
HOSTILE = [
    ("markdown", f"<script>{RUN}(1)</script>"),
    ("markdown", f"<img src=x onerror='{RUN}(2)'>"),
    ("markdown", f"text <svg onload='{RUN}(3)'></svg>"),
    ("markdown", "<iframe srcdoc='<script>(parent.ran = parent.ran || []).push(4)</script>'></iframe>"),
    ("raw", f"<script>{RUN}(5)</script>"),
    ("markdown", f'<div><img alt=="x onerror={RUN}(11) src=x"></div>'),
    ("markdown", f'<details open title=="x ontoggle={RUN}(12) ">'),
    ("raw", "$\\href{javascript:1}{x}$"),
    ("markdown", "<style>.hidden-by-style { color: red } h1 { display: none }</style>"),
    ("code", "1"),
]
LOUD = {1, 2, 3, 6, 10}  # they sing where nobody stops them: what comes in other ways may sing as well
OUTPUTS = [
    {"data": {"text/html": f"<script>{RUN}(6)</script>"}},
    {"data": {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}(7)'/>"}},
    {"data": {"application/javascript": f"{RUN}(8)"}},
    {"data": {"text/markdown": f"<script>{RUN}(9)</script>"}},
]


def handed_in() -> str:
    """The released notebook with an answer in words, and what an attacker adds."""
    notebook: dict[str, Any] = json.loads(REPOSITORY.notebook(LESSON).read_text("utf-8"))
    (explain,) = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "explain")
    explain["source"] = f"{ANSWER}<script>{RUN}(10)</script>"
    explain["attachments"] = {"pixel.png": {"image/png": PIXEL}}
    for number, (kind, source) in enumerate(HOSTILE):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"hostile-{number}", "metadata": {}, "source": source}
        if kind == "code":
            shown = [{"output_type": "display_data", "metadata": {}, **output} for output in OUTPUTS]
            cell |= {"execution_count": 1, "outputs": shown}
        notebook["cells"].append(cell)
    return json.dumps(notebook)


@dataclass(frozen=True)
class Graded:
    """One notebook, graded twice."""

    course: Course
    address: str

    def view(self, student: str) -> str:
        """Formgrader's page for grading by hand."""
        with self.course.gradebook() as gradebook:
            submission = gradebook.find_submission_notebook(LESSON, LESSON, student)
            return f"{self.address}/formgrader/submissions/{submission.id}"


@pytest.fixture(scope="module")
def graded(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    course, _ = make_course(REPOSITORY, tmp_path_factory.mktemp("text") / "new", (LESSON,))

    def here(*command: str) -> None:
        done = run(command, course.root, {"PYTHONPATH": str(REPOSITORY.root)})
        assert done.code == 0, done.output

    for student, command in ((OURS, ("cellcheck", "autograde")), (PLAIN, ("nbgrader", "autograde", "--no-execute"))):
        place = course.submission(student, LESSON)
        place.mkdir(parents=True)
        (place / f"{LESSON}.ipynb").write_text(handed_in(), encoding="utf-8")
        here(*command, LESSON, *(("--student", PLAIN) if student == PLAIN else ()))
        if student == OURS:
            shutil.copy(course.feedback(OURS, LESSON), course.root / "ours.html")
    here("nbgrader", "generate_feedback", LESSON, "--force")
    with serve(course.root, OPTION) as address:
        yield Graded(course, address)


def ran(page: Page, address: str) -> set[int]:
    """Which of the canaries have run once the page is there."""
    page.goto(address, wait_until="load")
    page.wait_for_function("document.readyState == 'complete'")
    return {*page.evaluate("window.ran || []")}


def test_in_the_view_for_grading(graded: Graded, page: Page) -> None:
    assert ran(page, graded.view(PLAIN)) >= LOUD
    assert ran(page, graded.view(OURS)) == set()


def test_in_the_feedback(graded: Graded, page: Page) -> None:
    pages = {student: graded.course.feedback(student, LESSON).as_uri() for student in (OURS, PLAIN)}
    assert ran(page, pages[PLAIN]) >= LOUD
    assert ran(page, pages[OURS]) == set()
    assert ran(page, (graded.course.root / "ours.html").as_uri()) == set()


def test_an_answer_is_still_a_text(graded: Graded, page: Page) -> None:
    page.goto(graded.view(OURS))
    answer = page.locator("div", has=page.locator("strong", has_text="Because")).last
    assert page.locator("strong", has_text="Because").count() == 1
    assert page.locator("li", has_text="two").count() >= 1
    widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert 1 in widths  # the attached pixel, among the lesson's own pictures
    assert "(10)" in answer.inner_text()  # what was taken out of force can be read
