"""A learner's path in JupyterLab: the start page, a wrong answer and a right one, hints, submitting, beginning anew."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from cellcheck.learning import progress
from cellcheck.learning.offers import offers, released
from cellcheck.learning.opened import as_opened
from tests.browser.axe import violations
from tests.browser.driving import RAN, Notebook, new_page, worst_contrast

if TYPE_CHECKING:
    from tests.browser.conftest import Serve

ROOT = Path(__file__).parents[2]
LESSON, BLANK, BEGUN = "01_pytorch_basics", "02_tokenizer", "05_causal_masks"
MAKE_LAB = re.search(
    r"^lab:.*?\$\(JUPYTER_LAB\) (.+?)\n\n", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
READABLE = 4.5

WRONG = 'def batched_dot(a, b):\n    print("shapes", a.shape)\n    return torch.einsum("bnd,bmd->bmn", a, b)\n'
RIGHT = WRONG.replace("bmn", "bnm")


@dataclass(frozen=True)
class Place:
    """A learner's folder, and the server that shows it."""

    folder: Path
    address: str

    def notebook(self, lesson: str) -> Path:
        return self.folder / lesson / f"{lesson}.ipynb"


@pytest.fixture(scope="module")
def place(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("learner") / "my lessons"
    for lesson, path in released().items():
        (folder / lesson).mkdir(parents=True)
        shutil.copy(path, folder / lesson)
    assert MAKE_LAB
    assert "JUPYTER_CONFIG_PATH" in MAKE_LAB[0]
    options = (*MAKE_LAB[1].split(), "--LabApp.expose_app_in_browser=True")  # as `make lab` does, and to look inside
    with serve(folder, *options, learner=True) as address:
        yield Place(folder, address)


@pytest.fixture(scope="module")
def lesson(browser: Browser, place: Place) -> Iterator[Notebook]:
    """Lesson 1, opened from the start page, its set-up cell run."""
    page = new_page(browser)
    page.goto(place.address)
    page.get_by_role("link", name="Open lesson 1", exact=True).click()
    notebook = Notebook.on(page)
    notebook.run("Set-up: run this cell first")
    yield notebook
    page.close()


def test_there_is_nothing_for_instructors_and_no_news(lesson: Notebook) -> None:
    menus = lesson.page.get_by_role("menubar").first.get_by_role("menuitem")
    expect(menus.filter(has_text="Course")).to_have_count(1)
    expect(menus.filter(has_text="Nbgrader")).to_have_count(0)
    for text in ("Validate", "Jupyter news", "Create Assignment", "Formgrader"):
        expect(lesson.page.get_by_text(text)).to_have_count(0)


def test_a_menu_leads_from_the_notebook_back_to_the_start_page(lesson: Notebook) -> None:
    lesson.page.get_by_role("menubar").first.get_by_role("menuitem").filter(has_text="Course").click()
    with lesson.page.expect_popup() as opened:
        lesson.page.locator(".lm-Menu-item:visible", has_text="All lessons").click()
    expect(opened.value).to_have_title("Transformers, cell by cell")
    opened.value.close()


IS_CHANGED = """async () => {
    const shown = () => window.jupyterapp?.shell.currentWidget;
    const kernel = () => shown()?.sessionContext?.session?.kernel;
    while (!kernel()) await new Promise(go => setTimeout(go, 50));
    await shown().context.ready;
    await Promise.all([kernel().info, kernel().spec]);  // of both, something is written into the notebook
    await new Promise(go => setTimeout(go, 0));
    return shown().context.model.dirty;
}"""


@pytest.mark.parametrize("settled", [True, False])
def test_opening_a_lesson_changes_nothing(page: Page, place: Place, settled: bool) -> None:
    """The control names no kernel of this machine, and is changed when it is opened."""
    file = place.notebook(BLANK)
    file.write_bytes(as_opened(released()[BLANK].read_bytes()) if settled else released()[BLANK].read_bytes())
    page.goto(f"{place.address}/lab/tree/{BLANK}/{BLANK}.ipynb")
    expect(page.locator(".jp-NotebookPanel")).to_have_count(1)
    assert page.evaluate(IS_CHANGED) is not settled


def test_lessons_are_settled_when_jupyter_starts(place: Place) -> None:
    lesson = "17_fast_answers"
    assert place.notebook(lesson).read_bytes() == as_opened(released()[lesson].read_bytes())


def on_the_start_page(page: Page, lesson: str) -> Locator:
    return page.locator(f'[id="{lesson}"]')


def is_dark(colour: str) -> bool:
    """Whether a colour, as a browser writes it, is a dark one."""
    return sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 64


def test_of_the_set_up_cell_a_learner_reads_one_line(page: Page, place: Place) -> None:
    page.goto(f"{place.address}/lab/tree/{LESSON}/{LESSON}.ipynb")
    first = page.locator(".jp-CodeCell").first
    expect(first.locator(".jp-PlaceholderText")).to_contain_text("Set-up: run this cell first.")
    expect(first.locator(".jp-InputArea-editor")).to_have_count(0)


# --- the start page ---------------------------------------------------------------------------------------------


def test_jupyter_opens_on_every_lesson_what_it_gives_and_how_long_it_takes(page: Page, place: Place) -> None:
    page.goto(place.address)
    expect(page).to_have_title("Transformers, cell by cell")
    expect(page.get_by_role("heading", level=2)).to_have_text([f"Lesson {o.number}: {o.title}" for o in offers()])
    for offer in offers():
        item = on_the_start_page(page, offer.name)
        if offer.number > 1:  # the next one is open
            item.get_by_text(offer.head.time).click()
        expect(item.get_by_role("list", name="What you will be able to do").get_by_role("listitem")).to_have_text(
            list(offer.gives)
        )
        expect(item).to_contain_text(offer.head.time)
        expect(item).to_contain_text(f"It builds on {offer.builds_on}.")
        expect(item).to_contain_text(f"of {len(offer.exercises)} solved")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_reads_well_on_a_telephone_and_in_the_dark(page: Page, place: Place, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(place.address)
    page.get_by_text("Start over").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    contrast, text = worst_contrast(page.locator("body"))
    assert contrast >= READABLE, text
    assert violations(page) == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    # JupyterLab's side bar leaves nothing of a telephone; Jupyter's simple view of a notebook fits.
    opens = page.get_by_role("link", name="Open lesson 2").get_attribute("href")
    assert opens == f"/{'notebooks' if width < 700 else 'lab/tree'}/02_tokenizer/02_tokenizer.ipynb"
    assert is_dark(ground) == (scheme == "dark")


def test_a_lesson_begins_anew_and_the_old_answers_are_kept(page: Page, place: Place) -> None:
    file = place.notebook(BEGUN)
    file.write_text(file.read_text("utf-8").replace("raise NotImplementedError()", "return 1"), "utf-8")
    before = file.read_bytes()
    progress.remember(place.folder, BEGUN, "future_leak", 3.0)
    page.goto(place.address)
    item = on_the_start_page(page, BEGUN)
    expect(item).to_contain_text("1 of 4 solved")
    item.get_by_text("Start over").click()
    item.get_by_role("button", name="Make lesson 5 blank").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text(f"That lesson is blank again. What was there is kept in {BEGUN}/earlier/")
    assert file.read_bytes() == as_opened(released()[BEGUN].read_bytes())
    (earlier,) = (place.folder / BEGUN / "earlier").iterdir()
    assert earlier.read_bytes() == before
    assert earlier.name in status.inner_text()
    expect(item).to_contain_text("0 of 4 solved")


# --- in the notebook --------------------------------------------------------------------------------------------


def test_hints_unfold_one_at_a_time_by_keyboard(lesson: Notebook) -> None:
    prose = lesson.page.locator(".jp-MarkdownCell", has_text="Exercise: batched_dot")
    hints = [prose.get_by_text(f"Hint {n}", exact=True) for n in (1, 2, 3)]
    hints[0].scroll_into_view_if_needed()
    for n, hint in enumerate(hints):
        expect(hint).to_be_visible()
        for later in hints[n + 1 :]:
            expect(later).to_be_hidden()
        hint.focus()
        lesson.page.keyboard.press("Space")
    expect(prose.get_by_text("One line of the form")).to_be_visible()


def test_a_wrong_answer_and_then_a_right_one(lesson: Notebook) -> None:
    lesson.write("def batched_dot", WRONG)
    lesson.run("def batched_dot")
    cell = lesson.run("check(batched_dot)")
    wrong = cell.get_by_role("group", name="Not yet: batched_dot")
    expect(wrong).to_contain_text("You have every dot product, but the last two axes are swapped")
    expect(wrong).to_contain_text("Right already: ")
    expect(wrong.get_by_role("img", name="fails")).to_have_count(0)  # what follows from the mistake isn't crossed out
    for title in ("expected (4, 6, 7), entry [0]", "yours (4, 7, 6), entry [0]"):
        expect(wrong.get_by_role("table", name=title)).to_be_visible()
    expect(cell.locator(".jp-OutputArea-output")).to_have_count(1)  # the card has said it all
    expect(cell.get_by_text("Hint 1 of 3")).to_be_visible()
    expect(cell.get_by_text("Hint 2 of 3")).to_have_count(0)
    lesson.run("check(batched_dot)")
    expect(cell.get_by_text("Use our version")).to_have_count(0)
    cell.get_by_text("Hint 2 of 3").click()
    expect(cell.get_by_text("Four letters are enough")).to_be_visible()
    lesson.run("check(batched_dot)")
    expect(cell.get_by_text("Hint 3 of 3")).to_be_visible()
    expect(cell.get_by_text("Use our version")).to_be_visible()
    right = solve(lesson)
    expect(right).to_contain_text("2 of 2 points")
    expect(cell.get_by_text("Hint 1 of 3")).to_have_count(0)
    expect(right.get_by_role("img", name="fails")).to_have_count(0)
    expect(wrong).to_have_count(0)


def solve(lesson: Notebook) -> Locator:
    """Answers the first exercise rightly; gives back the card."""
    lesson.write("def batched_dot", RIGHT)
    lesson.run("def batched_dot")
    return lesson.run("check(batched_dot)").get_by_role("group", name="Right: batched_dot")


def test_what_an_answer_printed_unfolds_by_keyboard(lesson: Notebook) -> None:
    card = solve(lesson)
    printed = card.get_by_text("shapes torch.Size").first
    expect(printed).to_be_hidden()
    card.get_by_text("What it printed").focus()
    lesson.page.keyboard.press("Enter")
    expect(printed).to_be_visible()


@pytest.fixture(scope="module")
def wrong_card(lesson: Notebook) -> Locator:
    lesson.write("def pick", "def pick(values, index):\n    return values[:, index]\n")
    lesson.run("def pick")
    return lesson.run("check(pick)").get_by_role("group", name="Not yet: pick")


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_card_follows_the_theme_and_stays_readable(lesson: Notebook, wrong_card: Locator, scheme: str) -> None:
    lesson.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    expect(lesson.page.locator("body")).to_have_attribute("data-jp-theme-light", str(scheme == "light").lower())
    expect(wrong_card).to_have_css("color-scheme", scheme)
    contrast, text = worst_contrast(wrong_card)
    assert contrast >= READABLE, text
    ground = wrong_card.evaluate("card => getComputedStyle(card).backgroundColor")
    assert is_dark(ground) == (scheme == "dark")


def test_the_start_page_knows_what_was_solved(lesson: Notebook, page: Page, place: Place) -> None:
    solve(lesson)
    assert progress.read(place.folder)[LESSON] == {"batched_dot": 2.0}
    page.goto(place.address)
    item = on_the_start_page(page, LESSON)
    expect(item).to_contain_text("1 of 13 solved")
    expect(item).to_contain_text("2 of 24 points")
    expect(item.get_by_role("link", name="Go on lesson 1")).to_be_visible()
    here = page.get_by_role("region", name="Where you are")
    expect(here).to_contain_text("Continue: lesson 1, Points in, curve out")
    expect(here).to_contain_text("Next: pick")
    expect(here.get_by_role("link", name="Go on: pick")).to_be_in_viewport()
    everything = sum(len(offer.exercises) for offer in offers())
    expect(page.get_by_text(f"1 of {everything} exercises solved.")).to_be_visible()


def test_submit_asks_to_save_and_then_makes_the_file_to_hand_in(lesson: Notebook, place: Place) -> None:
    solve(lesson)
    submitted = place.notebook(LESSON).with_name(f"{LESSON}.submission.zip")
    lesson.write("guess_shape = None", 'cellcheck.submit("01_pytorch_basics")')
    cell = lesson.run('submit("01')
    expect(cell).to_contain_text("Save the notebook first")
    assert not submitted.exists()
    lesson.save()
    expect(lesson.run('submit("01').get_by_role("status")).to_contain_text(f"Ready to hand in: {submitted.name}.")
    with zipfile.ZipFile(submitted) as archive:
        assert b"bnd,bmd->bnm" in archive.read(f"{LESSON}.ipynb")


def test_run_all_on_a_blank_notebook_stops_in_plain_words(page: Page, place: Place) -> None:
    page.goto(f"{place.address}/lab/tree/{BLANK}/{BLANK}.ipynb")
    notebook = Notebook.on(page)
    notebook.run_all()
    symbol = next(offer for offer in offers() if offer.name == BLANK).exercises[0].symbol
    cell = notebook.cell(f"check({symbol})")
    expect(cell.get_by_role("group", name=f"Still blank: {symbol}")).to_be_visible()
    expect(cell.locator(".jp-OutputArea-output")).to_have_count(1)  # the card has said it
    expect(page.locator(".jp-Notebook")).not_to_contain_text("Traceback")
    expect(notebook.cell("# submit()").locator(".jp-InputPrompt")).not_to_have_text(RAN)
    assert not list(place.folder.glob(f"{BLANK}/*.zip"))
