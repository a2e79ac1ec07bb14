"""In the browser, with nothing to install: the site's Python, opened from a folder, with a cold cache.

One site is built, of two pages: a live exercise, and the lessons that run here. No request may leave it.
"""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from cellcheck.browser.lessons import file_name
from cellcheck.repository import Repository
from cellcheck.running.intake import read_submission
from tests import sphinx_apart
from tests.browser.driving import SECONDS, Notebook
from tests.nightly import later
from tests.pyodide.conftest import interpreter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

__all__ = ["interpreter"]

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
LESSON = "09_numpy_transformer"
CONFIGURATION = """
extensions = ["myst_parser", "cellcheck.publishing.in_browser"]
myst_enable_extensions = ["attrs_block"]
include_patterns = ["try.md", "browser.md", "start.md"]
root_doc = "try"
suppress_warnings = ["toc.not_included", "myst.xref_missing", "myst.substitution"]
html_theme = "basic"
cellcheck_interpreter = {interpreter!r}
"""
RIGHT = """\
def softmax(x, axis=-1):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)"""
WRONG = """\
def softmax(x, axis=-1):
    exponentials = np.exp(x)
    return exponentials / exponentials.sum()"""


def build(folder: Path, python: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conf.py").write_text(CONFIGURATION.format(interpreter=python), "utf-8")
    sphinx_apart.build("--quiet", "-c", folder, "-d", folder / "doctrees", SITE, folder / "html")
    return folder / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, interpreter: Path) -> Path:
    return build(tmp_path_factory.mktemp("site"), str(interpreter))


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served: from its folder, by a server that knows nothing."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def end_headers(self) -> None:
            self.send_header("Cache-Control", "no-cache")  # a file that a release has changed is asked for again
            super().end_headers()

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def visit(browser: Browser, address: str) -> Iterator[Page]:
    """A page of a new profile. Whatever it asks of another host fails the test."""
    profile = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = profile.new_page()
    page.set_default_timeout(300 * SECONDS)
    asked: list[str] = []
    profile.on("request", lambda request: asked.append(request.url))
    yield page
    profile.close()
    ours = (address, "data:", "blob:", "attachment:")
    assert [url for url in asked if not url.startswith(ours)] == []


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Page]:
    """Somebody who has never been here."""
    with visit(browser, address) as page:
        yield page


@pytest.fixture(scope="module")
def exercise(browser: Browser, address: str) -> Iterator[Page]:
    """The live exercise, whose Python stays loaded from one test to the next."""
    with visit(browser, address) as page:
        page.goto(f"{address}/try.html")
        yield page


def test_a_visitor_gets_it_wrong_and_then_right(visitor: Page, address: str) -> None:
    visitor.goto(f"{address}/try.html")
    card = visitor.locator(".live-card")
    visitor.get_by_label("Your answer to softmax").focus()
    visitor.keyboard.press("Control+Enter")  # no mouse
    status = visitor.locator(".live-exercise [role=status]")
    visitor.wait_for_function(
        "document.querySelector('.live-exercise [role=status]').textContent.startsWith('Loading')"
    )
    visitor.wait_for_selector(".live-card[data-diagnosis=whole_array_adds_up_to_one]")
    assert "All your numbers together add up to 1" in card.inner_text()
    assert status.inner_text().startswith("Not yet")
    visitor.keyboard.press("ControlOrMeta+A")
    visitor.keyboard.insert_text(RIGHT)
    visitor.keyboard.press("Control+Enter")
    visitor.wait_for_selector(".live-card[data-right=true]")
    visitor.reload()
    assert visitor.get_by_label("Your answer to softmax").input_value() == RIGHT
    visitor.get_by_role("button", name="Start over").click()
    assert "exponentials.sum()" in visitor.get_by_label("Your answer to softmax").input_value()


ANSWERED = {
    "def softmax(x, axis=-1)\n    return x": "Python can't read this (line 1)",
    "softmin = 1": "Your text doesn't define softmax",
    "softmax = 1 / 0": "stops in line 1 with ZeroDivisionError",
    "def softmax(x, axis=-1):\n    return '<img src=x onerror=alert(1)>'": "softmax",
    "raise SystemExit": "SystemExit",
}


def test_whatever_a_visitor_writes_is_answered(exercise: Page) -> None:
    card, field = exercise.locator(".live-card"), exercise.get_by_label("Your answer to softmax")
    for text, told in ANSWERED.items():
        field.fill(text)
        exercise.evaluate("document.querySelector('.live-card').replaceChildren()")
        exercise.get_by_role("button", name="Check it").click()
        exercise.wait_for_selector(".live-card:not(:empty)")
        assert told in card.inner_text()
    assert card.locator("img").count() == 0


def test_an_endless_loop_can_be_stopped(exercise: Page) -> None:
    exercise.get_by_label("Your answer to softmax").fill("while True: pass")
    exercise.get_by_role("button", name="Check it").click()
    exercise.wait_for_function(
        "document.querySelector('.live-exercise [role=status]').textContent.startsWith('Checking')"
    )
    exercise.get_by_role("button", name="Stop").click()
    assert exercise.locator(".live-exercise [role=status]").inner_text().startswith("Stopped")
    exercise.get_by_label("Your answer to softmax").fill(RIGHT)
    exercise.get_by_role("button", name="Check it").click()
    exercise.wait_for_selector(".live-card[data-right=true]")


TEN = (
    *("gradient_check", "Linear", "SGD", "ReLU", "softmax", "softmax_backward", "cross_entropy"),
    *("Adam", "Embedding", "LayerNorm"),
)
OURS = "from transformer_course.numpy_transformer.functions import softmax_backward"
SET_UP = "Set-up: run this cell first"


def answers(lesson: str) -> dict[str, str]:
    """Our answer to each exercise, as the executed notebook has it."""
    solution = nbformat.read(Repository.find(ROOT).solution(lesson), as_version=4)
    return {cell.id: cell.source for cell in solution.cells if cell.cell_type == "code"}


def opened(page: Page, address: str, lesson: str) -> Notebook:
    """A lesson's notebook, as the page that lists them opens it."""
    page.goto(f"{address}/browser.html?open={lesson}")
    page.wait_for_url("**/lab/notebooks/**")
    return Notebook.on(page)


def set_up(notebook: Notebook) -> None:
    output = notebook.run(SET_UP).locator(".jp-OutputArea-output")
    assert not re.search("Error|Warning", "".join(output.all_inner_texts()))


def solve(notebook: Notebook, symbol: str, answer: str) -> Locator:
    """Writes an answer, runs it, and checks it."""
    begins = f"{'class' if answer.startswith('class') else 'def'} {symbol}"
    notebook.write(begins, answer)
    if begins in answer:
        notebook.run(begins)
    else:
        notebook.run(answer)
    return notebook.run(f"check({symbol})")


def show(pictures: Locator) -> bool:
    """Whether there are pictures, and all of them can be seen."""
    widths = pictures.evaluate_all("all => all.map(image => image.naturalWidth)")
    return bool(widths) and min(widths) > 100


@later
def test_a_learner_works_reloads_carries_on_and_takes_it_home(
    visitor: Page, address: str, site: Path, tmp_path: Path
) -> None:
    notebook = opened(visitor, address, LESSON)
    set_up(notebook)
    assert show(visitor.locator(".jp-MarkdownCell img"))
    right = answers(LESSON)
    for symbol in TEN[:4]:
        assert "Right" in solve(notebook, symbol, right[symbol]).inner_text()
    card = solve(notebook, "softmax", WRONG)
    assert "All your numbers together add up to 1" in card.inner_text()
    assert "Hint 1 of 3" in card.inner_text()
    assert "Right" in solve(notebook, "softmax", RIGHT).inner_text()
    notebook.save()
    visitor.wait_for_timeout(2 * SECONDS)
    visitor.reload()
    notebook = Notebook.on(visitor)
    set_up(notebook)
    for symbol in TEN[:5]:  # the kernel is new, and what was written is there
        answer = RIGHT if symbol == "softmax" else right[symbol]
        notebook.run(answer.splitlines()[0])
        assert "Right" in notebook.run(f"check({symbol})").inner_text()
    assert "the course's own softmax_backward" in solve(notebook, "softmax_backward", OURS).inner_text()
    for symbol in TEN[6:]:
        assert "Right" in solve(notebook, symbol, right[symbol]).inner_text()
    assert show(notebook.run("The first thing that learns").locator(".jp-OutputArea img"))

    notebook.write("# submit()", "submit()")
    with visitor.expect_download() as handed:
        notebook.run("submit()")
    handed.value.save_as(tmp_path / "handed.zip")
    with zipfile.ZipFile(tmp_path / "handed.zip") as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".ipynb")]
        assert read_submission(archive.read(name)).lesson.name == LESSON

    # What hangs is stopped with its kernel.
    notebook.write("submit()", "while True: pass")
    visitor.keyboard.press("Control+Enter")
    visitor.wait_for_timeout(2 * SECONDS)
    notebook.menu("Kernel")
    visitor.locator("[data-command='kernelmenu:restart']").click()
    visitor.get_by_role("button", name="Confirm Kernel Restart").click()
    notebook = Notebook.on(visitor)
    set_up(notebook)
    notebook.write("while True", "# submit()")
    notebook.save()
    visitor.wait_for_timeout(2 * SECONDS)

    visitor.goto(f"{address}/browser.html")
    visitor.wait_for_selector("[data-progress]:not(:empty)")
    assert visitor.locator(f"[data-progress='{LESSON}']").inner_text().strip().startswith("9 of ")
    with visitor.expect_download() as taken:
        visitor.get_by_role("button", name="Download my work").click()
    taken.value.save_as(tmp_path / "work.zip")
    name = file_name(Repository.find(ROOT), LESSON)
    with zipfile.ZipFile(tmp_path / "work.zip") as archive:
        assert archive.testzip() is None
        kept_work: dict[str, Any] = json.loads(archive.read(name))
    assert any(RIGHT in "".join(cell["source"]) for cell in kept_work["cells"])

    with released(site, name) as newer:
        visitor.goto(f"{address}/browser.html")
        visitor.wait_for_function("document.body.innerText.includes('Not of this version')")
        assert name in visitor.locator(".my-work + [role=status]").inner_text()
        visitor.goto(f"{address}/lab/notebooks/index.html?path={newer}")
        assert "NotImplementedError" in Notebook.on(visitor).cell("def softmax(").inner_text()
        visitor.goto(f"{address}/lab/notebooks/index.html?path={name}")
        assert "exponentials.sum(axis=axis" in Notebook.on(visitor).cell("def softmax(").inner_text()


@contextmanager
def released(site: Path, name: str) -> Iterator[str]:
    """The site after a release: its notebook has another name, on the page and in the list of files."""
    newer = name.replace(Repository.find(ROOT).version, "99.0.0")
    naming = [path for path in (site / "browser.html", *(site / "lab").rglob("all.json")) if path.is_file()]
    before = {path: path.read_text("utf-8") for path in naming}
    file = site / "lab" / "files" / name
    file.rename(file.with_name(newer))
    try:
        for path, text in before.items():
            path.write_text(text.replace(name, newer), "utf-8")
        yield newer
    finally:
        for path, text in before.items():
            path.write_text(text, "utf-8")
        file.with_name(newer).rename(file)


FIRST = {
    "01_pytorch_basics": ("mlp_predict_numpy", "mlp_predict_numpy([first, second], x)"),
    "02_tokenizer": ("build_vocabulary", "novel_vocabulary = dict(build_vocabulary"),
}
"""Of each lesson that opens in part, its first exercise there, and a cell with a picture that uses it."""


@later
@pytest.mark.parametrize("lesson", FIRST)
def test_part_of_a_lesson_that_needs_pytorch(visitor: Page, address: str, lesson: str) -> None:
    symbol, cell = FIRST[lesson]
    notebook = opened(visitor, address, lesson)
    visitor.get_by_role("strong").filter(has_text="A part of the lesson.").wait_for()
    set_up(notebook)
    notebook.run(f"def {symbol}(")
    assert "still blank" in notebook.run(f"check({symbol})").inner_text()
    assert "Right" in solve(notebook, symbol, answers(lesson)[symbol]).inner_text()
    assert show(notebook.run("plots.bars(baselines").locator(".jp-OutputArea img"))
    assert show(notebook.run(cell).locator(".jp-OutputArea img"))
    notebook.write("# submit()", "import torch\ntorch.zeros(3)")
    assert "This needs PyTorch, which isn't here in the browser" in notebook.run("torch.zeros").inner_text()


def test_without_python_the_pages_say_so(tmp_path: Path) -> None:
    site = build(tmp_path, "")
    assert not (site / "lab").exists()
    assert not (site / "python").exists()
    page = (site / "try.html").read_text("utf-8")
    assert "built without Python for the browser" in page
    assert "All your numbers together add up to 1" in page
    assert "no lesson opens here" in (site / "browser.html").read_text("utf-8")
