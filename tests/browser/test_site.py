"""The site, built once as `make site` builds it: what stands on its pages, and how they do without a network."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lxml.html
import pytest
from sphinx.cmd.build import main as sphinx
from sphinx.search.en import SearchEnglish

from grader.checking.cards import card
from grader.checking.notebook import Checker
from grader.learning.lessons import offers
from grader.publishing.exercises import Map, Place
from grader.publishing.weights import Page as BuiltPage
from grader.publishing.weights import table
from grader.repository import Repository
from grader.syllabus import lesson_names, load_lesson, syllabi
from tests.nightly import later

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
LESSON = "lessons/05_causal_masks.html"
LESSONS = {name: load_lesson(name) for name in lesson_names()}
EXERCISES = [Place(name, exercise.symbol) for name, lesson in LESSONS.items() for exercise in lesson.exercises]
KINDS = (LESSON, "index.html", "lessons/index.html", "lessons/glossary.html", "api/course.attention.html")
ALL_KINDS = (*KINDS, "trust.html", "comparison.html", "numbers.html", "guides/instructors.html", "search.html")
WIDTHS = {"phone": 360, "desktop": 1280}

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # what MyST and the theme ask of Sphinx


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages. A warning fails the build: links between pages, to code and to exercises are checked there."""
    return made_by("html", tmp_path_factory.mktemp("site"))


def made_by(builder: str, folder: Path) -> Path:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--builder", builder]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        done = sphinx([*options, "--doctree-dir", str(folder / "doctrees"), str(SITE), str(folder / builder)])
    assert done == 0
    return folder / builder


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, BuiltPage]:
    """All pages, by their address."""
    return {
        path.relative_to(built).as_posix(): BuiltPage(path)
        for path in sorted(built.rglob("*.html"))
        if "_static" not in path.parts
    }


def test_nothing_is_loaded_from_elsewhere(built: Path, pages: dict[str, BuiltPage]) -> None:
    for name, page in pages.items():
        for _, address in page.resources():
            assert not re.match(r"(\w+:)?//", address), f"{name} loads {address}"
            assert address.startswith("data:") or page.local(address).is_file(), f"{name} loads {address}: not there"
        # A link may lead there: a paper of OpenAI's does.
        assert "cdn." not in re.sub(r'<a [^>]*href="[^"]*"', "", page.file.read_text("utf-8"))
    for style in built.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", style.read_text("utf-8"), flags=re.DOTALL)
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text):
            assert not re.match(r"(\w+:)?//", address), f"{style.name} loads {address}"


def test_every_link_within_the_site_leads_somewhere(pages: dict[str, BuiltPage]) -> None:
    places = {
        page.file.resolve(): {e.get("id") for e in page.tree.iter() if e.get("id")} | {""} for page in pages.values()
    }
    followed = 0
    for name, page in pages.items():
        for link in page.tree.iter("a"):
            address, _, anchor = link.get("href", "").partition("#")
            if re.match(r"\w+:", address):
                continue
            target = page.local(address) if address else page.file.resolve()
            assert target.is_file(), f"{name} links to {address}"
            assert target.suffix != ".html" or anchor in places[target], f"{name} links to {address}#{anchor}"
            followed += 1
    assert followed > 1000


def test_a_lesson_shows_the_blank_and_hides_the_answer(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        page = pages[f"lessons/{name}.html"]
        text = page.file.read_text("utf-8")
        assert "claim:" not in text
        assert "attachment:" not in text
        assert not page.tree.xpath("//article//details[@open]")
        answers = page.tree.xpath("//details[.//summary[contains(., 'our solution')]]")
        assert len(answers) == len(LESSONS[name].exercises)
        blanks = page.tree.xpath("//div[contains(@class, 'cell_input')][not(ancestor::details)]")
        shown = "".join(blank.text_content() for blank in blanks)
        assert shown.count("raise NotImplementedError()") >= len(LESSONS[name].exercises)
        assert "BEGIN SOLUTION" not in shown
        for exercise in LESSONS[name].exercises:
            assert f"check({exercise.symbol})" in shown


def test_a_lesson_says_what_it_takes_and_where_it_leads(pages: dict[str, BuiltPage]) -> None:
    for offer in offers():
        page = pages[f"lessons/{offer.name}.html"].tree
        (facts,) = page.xpath("//ul[contains(@class, 'facts')]")
        said = " ".join(facts.text_content().split())
        assert offer.time in said
        assert f"{len(offer.exercises)}, worth {offer.points:g} points" in said
        assert offer.builds_on in said
        (badges,) = page.xpath("//p[contains(@class, 'badges')]")
        downloaded, colab = (link.get("href") for link in badges.iter("a"))
        blank = pages[f"lessons/{offer.name}.html"].local(downloaded)
        assert blank.read_bytes() == Repository.find(ROOT).notebook(offer.name).read_bytes()
        assert colab.startswith("https://colab.research.google.com/github/")


def test_pictures_have_words(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        pictures = pages[f"lessons/{name}.html"].tree.xpath("//article//img")
        assert len(pictures) > 3
        assert all(len(picture.get("alt", "")) > 10 for picture in pictures)


def test_formulas_are_written_when_the_site_is_built(pages: dict[str, BuiltPage]) -> None:
    formulas = [pages[f"lessons/{name}.html"].tree.xpath("//article//math") for name in lesson_names()]
    assert all(formulas)


@pytest.fixture(scope="module")
def search(built: Path) -> Callable[[str], set[str]]:
    """Sphinx's own index, asked as its script asks it: the pages that have every word, in their text or their title."""
    text = (built / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    language = SearchEnglish({})

    def having(word: str) -> set[int]:
        found: set[int] = set()
        for terms in (index["terms"], index["titleterms"]):
            for term in [word] if word in terms else [term for term in terms if word in term]:
                found |= {terms[term]} if isinstance(terms[term], int) else set(terms[term])
        return found

    def asked(words: str) -> set[str]:
        kept = [
            language.stem(word)
            for word in language.split(words.lower())
            if language.word_filter(word) and not word.isdigit()
        ]
        return {index["docnames"][page] for page in set.intersection(*(having(word) for word in kept))}

    return asked


@pytest.mark.parametrize("place", EXERCISES, ids=lambda place: f"{place.lesson[:2]}-{place.symbol}")
def test_search_finds_an_exercise(search: Callable[[str], set[str]], place: Place) -> None:
    wanted = {f"lessons/{place.lesson}", "lessons/index"}
    assert wanted <= search(place.symbol)
    assert wanted <= search(Map(LESSONS).does(place))


@pytest.mark.parametrize(
    ("idea", "lesson"),
    [
        ("hide the future", "05_causal_masks"),
        ("reads ahead", "05_causal_masks"),
        ("learn which byte pairs to merge", "02_tokenizer"),
        ("heads side by side", "03_classification_transformer"),
        ("teacher forcing", "04_seq2seq_cross_attention"),
        ("rotate queries and keys", "06_positional_encodings"),
        ("nucleus sampling", "07_autoregressive_sampling"),
        ("label smoothing", "08_attention_is_all_you_need"),
        ("gradient by hand", "09_numpy_transformer"),
        ("exploding gradients", "10_training_well"),
    ],
)
def test_search_finds_an_idea(search: Callable[[str], set[str]], idea: str, lesson: str) -> None:
    assert f"lessons/{lesson}" in search(idea)


def test_the_front_page_shows_the_real_thing(pages: dict[str, BuiltPage]) -> None:
    page = pages["index.html"]
    assert "Build a Transformer yourself" in page.tree.xpath("string(//meta[@name='description']/@content)")
    check = Checker("05")
    (mistake,) = [m for m in check.lesson["causal_mask"].mistakes if m.name == "one_step_too_far"]
    made = lxml.html.tostring(lxml.html.fromstring(card(check.verdict("causal_mask", mistake.implementation))))
    shown = page.tree.xpath("//*[@role='group'][starts-with(@aria-label, 'Not yet')]")
    assert [lxml.html.tostring(one, with_tail=False) for one in shown] == [made]
    preview = syllabi()[0].preview
    assert preview is not None
    (writing,) = page.tree.xpath("//table[contains(@class, 'writing')]")
    for row, (word, *written) in zip(writing.xpath("tbody/tr"), preview[1][1:], strict=True):
        assert row.findtext("th") == word
        assert ["".join(cell.xpath("span[@aria-hidden]//text()")) for cell in row.iter("td")] == written
    delays = re.findall(r"animation-delay:([\d.]+)s", lxml.html.tostring(writing, encoding="unicode"))
    assert max(map(float, delays)) < 5  # whatever moves for longer must have a button that stops it


def test_the_page_on_trust_lists_what_is_tested(pages: dict[str, BuiltPage]) -> None:
    said = pages["trust.html"].tree.xpath("string(//article)")
    names = [
        name
        for file in (ROOT / "tests" / "attacks").glob("test_*.py")
        for name in re.findall(r"^def test_(\w+)", file.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(names) > 50
    assert all(name.replace("_", " ").capitalize() in said for name in names)
    assert all(name in said for name in lesson_names())


def test_the_stated_weights_are_those_of_the_pages(built: Path, pages: dict[str, BuiltPage]) -> None:
    stated = [[cell.text_content() for cell in row] for row in pages["numbers.html"].tree.xpath("//article//tr")]
    now = table(built)
    assert stated == [list(row) for row in now]
    assert [row[0] for row in now[2:]] == [f"Lesson {offer.number} · {offer.title}" for offer in offers()]
    for name, minutes, page, parts, _ in now[1:]:
        assert 0 < int(minutes) < 120, name
        assert 5 < int(page) < 150, name  # compressed: a lesson is a long text, and its pictures are files
        assert 300 < int(parts) < 1000, name


def test_a_translated_lesson(pages: dict[str, BuiltPage]) -> None:
    page = pages["lessons/de/05_causal_masks.html"]
    assert "Lektion 5 · Die Zukunft verbergen" in page.tree.findtext(".//title")
    (badges,) = page.tree.xpath("//p[contains(@class, 'badges')]")
    (link,) = badges.iter("a")  # Colab has no such notebook
    spoken = {e.tag for e in page.tree.xpath("//article//*[@lang='de']")}
    assert {"h1", "h2", "p"} <= spoken
    assert not any("What you should see" in e.text_content() for e in page.tree.xpath("//*[@lang='de']"))
    notebook = json.loads(page.local(link.get("href")).read_text("utf-8"))
    assert "".join(notebook["cells"][0]["source"]).startswith("# Lektion 5 · Die Zukunft verbergen")
    assert page.tree.xpath("//a[normalize-space(.)='English']")
    assert pages[LESSON].tree.xpath("//a[normalize-space(.)='Deutsch']")
    assert [e.get("src") for e in page.tree.xpath("//article//img")] == [
        f"../{e.get('src')}" for e in pages[LESSON].tree.xpath("//article//img")
    ]


@later
def test_what_can_be_translated(tmp_path: Path) -> None:
    made = made_by("gettext", tmp_path)
    for page in ("index", "trust", "comparison", "guides/site", "lessons/glossary"):
        assert (made / f"{page}.pot").is_file()
    for name in lesson_names():
        messages = (made / "notebooks" / f"{name}.pot").read_text("utf-8")
        assert messages.count("\nmsgctxt ") > 20
        assert f"# Lesson {int(name[:2])} · " in messages


@later
def test_a_translated_page(tmp_path: Path) -> None:
    """The front page alone: without the others its links lead nowhere, so warnings are none of our business here."""
    others = ["_build", "_templates", "api", "guides", "lessons", "locale", "notebooks"]
    others += [page.name for page in SITE.glob("*.md") if page.stem != "index"]
    define = ["--define", "language=de", "--define", f"exclude_patterns={','.join(others)}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        assert sphinx(["--quiet", "--builder", "html", *define, str(SITE), str(tmp_path)]) == 0
    page = BuiltPage(tmp_path / "index.html").tree
    assert page.get("lang") == "de"
    assert page.xpath("string(//meta[@name='description']/@content)")
    assert page.xpath("string(//h1)").startswith("Transformer, Zelle für Zelle")
    assert "Jede Übung antwortet sofort." in page.text_content()


# In a browser


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    """The pages on a server of their own."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(built)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


Visit = Callable[..., "Page"]


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """`visit(page, width, scheme)`: the page in a browser that reaches nothing but the site."""
    opened: list[Page] = []
    foreign: list[str] = []

    def visiting(name: str, width: int = 1280, scheme: str = "light", motion: str = "reduce") -> Page:
        size: Any = {"width": width, "height": 900}
        page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion=motion)  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        page.on("request", lambda request: None if request.url.startswith(address) else foreign.append(request.url))
        page.on("pageerror", lambda error: foreign.append(str(error)))
        page.goto(f"{address}/{name}", wait_until="load")
        opened.append(page)
        return page

    yield visiting
    for page in opened:
        page.close()
    assert not [url for url in foreign if not url.startswith(("data:", "blob:"))]


def serious(page: Page) -> list[str]:
    """What axe finds that keeps people from using a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def test_a_lesson_is_open_to_everybody(visit: Visit) -> None:
    page = visit(LESSON, WIDTHS["phone"], "dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]


@later
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("name", ALL_KINDS)
def test_every_kind_of_page_is_open_to_everybody(visit: Visit, name: str, width: int, scheme: str) -> None:
    page = visit(name, width, scheme)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit(LESSON)
    page.keyboard.press("Tab")
    first = page.locator(":focus")
    assert first.inner_text().strip() == "Skip to main content"
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")  # it slides in
    page.keyboard.press("Enter")
    page.wait_for_url("**#main-content")
    answer = page.locator("details", has=page.locator("summary", has_text="Show our solution")).first
    assert not answer.locator("div.highlight").is_visible()
    answer.locator("summary").focus()
    outline = "element => getComputedStyle(element).outlineStyle"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate(outline) != "none"
    page.keyboard.press("Enter")
    answer.locator("div.highlight").first.wait_for(state="visible")


def test_the_animation_ends_and_can_be_left_out(visit: Visit) -> None:
    moving = "() => document.querySelector('table.writing').getAnimations({subtree: true}).length"
    still = visit("index.html")
    assert still.evaluate(moving) == 0
    page = visit("index.html", motion="no-preference")
    assert page.evaluate(moving) > 50
    ends = "() => document.querySelector('table.writing').getAnimations({subtree: true})"
    longest = page.evaluate(f"({ends})().map(a => a.effect.getComputedTiming().endTime)")
    assert max(longest) < 5000
    page.evaluate(f"({ends})().forEach(animation => animation.finish())")
    letters = page.locator("table.writing td span[aria-hidden] span")
    assert set(letters.evaluate_all("all => all.map(one => getComputedStyle(one).opacity)")) == {"1"}


def test_searching_in_the_page(visit: Visit) -> None:
    page = visit("search.html?q=causal_mask")
    found = page.locator("#search-results a", has_text="Lesson 5")
    found.first.wait_for()
    assert found.count() >= 1
