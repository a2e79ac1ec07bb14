"""The site, built once as `make site` builds it: what stands on its pages, and how they do without a network."""

from __future__ import annotations

import functools
import gzip
import http.server
import itertools
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import lxml.html
import pytest
import torch

from cellcheck.building.frame import in_colab
from cellcheck.checking.cards import card
from cellcheck.checking.check import Checker
from cellcheck.learning.offers import offers
from cellcheck.publishing.exercises import ExerciseAddress, Map
from cellcheck.publishing.lesson_pages import GUESS
from cellcheck.publishing.markup import picture_size
from cellcheck.publishing.weights import Page as BuiltPage
from cellcheck.publishing.weights import table
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson, syllabi
from tests import sphinx_apart
from tests.browser.axe import violations
from tests.nightly import later
from transformer_course.attention import scaled_dot_product_attention
from transformer_course.sampling import top_k_filter, top_p_filter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
LESSON = "lessons/05_causal_masks.html"
PART = "lessons/05_causal_masks/part-2-the-mask.html"
LESSONS = {name: load_lesson(name) for name in lesson_names()}
EXERCISES = [
    ExerciseAddress(name, exercise.symbol) for name, lesson in LESSONS.items() for exercise in lesson.exercises
]
KINDS = (
    LESSON,
    PART,
    "index.html",
    "lessons/index.html",
    "lessons/exercises.html",
)
FIGURED = (
    ("03_classification_transformer", "part-1-a-soft-dictionary"),
    ("06_positional_encodings", "part-2-waves"),
    ("07_autoregressive_sampling", "part-2-sampling"),
    ("07_autoregressive_sampling", "part-3-several-answers"),
)
"""The other parts with a figure to touch."""
MORE_KINDS = (
    "lessons/glossary.html",
    "api/transformer_course.attention.html",
    "404.html",
    "trust.html",
    "comparison.html",
    "numbers.html",
    "guides/instructors.html",
    "search.html?q=causal+mask",
)
MORE_KINDS += tuple(f"lessons/{name}/{part}.html" for name, part in FIGURED)
MORE_KINDS += ("api/transformer_course.training_well.html", "genindex.html", "mistakes/05_causal_masks.html")
WIDTHS = {"phone": 360, "desktop": 1280}
FRONT_PAGE, FIRST_SCREEN = 250_000, 400_000
"""At most so many bytes travel until a page can be seen."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages. A warning fails the build: links between pages, to code and to exercises are checked there."""
    return made_by("html", tmp_path_factory.mktemp("site"))


def made_by(builder: str, folder: Path) -> Path:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--builder", builder]
    sphinx_apart.build(*options, "--doctree-dir", folder / "doctrees", SITE, folder / builder)
    return folder / builder


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, BuiltPage]:
    """All pages, by their address."""
    return {
        path.relative_to(built).as_posix(): BuiltPage(path)
        for path in sorted(built.rglob("*.html"))
        if not {"_static", "lab"} & {*path.relative_to(built).parts}  # JupyterLite: see test_nothing_to_install.py
    }


def test_nothing_is_loaded_from_elsewhere(built: Path, pages: dict[str, BuiltPage]) -> None:
    for name, page in pages.items():
        for _, address in page.resources():
            assert not re.match(r"(\w+:)?//", address), f"{name} loads {address}"
            assert address.startswith("data:") or page.local(address).is_file(), f"{name} loads {address}: not there"
        # A link may lead there: a paper of OpenAI's does.
        assert "cdn." not in re.sub(r'<a [^>]*href="[^"]*"', "", page.file.read_text("utf-8"))
    for style in (path for path in built.rglob("*.css") if path.relative_to(built).parts[0] != "lab"):
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
            known = places.get(target, {""})  # JupyterLite's pages are none of ours
            assert target.suffix != ".html" or anchor in known, f"{name} links to {address}#{anchor}"
            followed += 1
    assert followed > 1000


OUTPUT = ".//div[contains(@class, 'cell_output')]"


def of_lesson(pages: dict[str, BuiltPage], name: str) -> list[BuiltPage]:
    """A lesson's overview, and its parts in their order."""
    overview = pages[f"lessons/{name}.html"]
    links = overview.tree.xpath("//ol[contains(@class, 'parts')]/li/p[1]/a/@href")
    parts = [overview.local(link) for link in links]
    assert sorted(parts) == sorted(overview.file.with_suffix("").glob("*.html"))
    return [overview, *map(BuiltPage, parts)]


def test_a_lesson_shows_the_blank_and_hides_the_answer(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        answers, shown = [], ""
        for page in of_lesson(pages, name):
            text = page.file.read_text("utf-8")
            assert "claim:" not in text
            assert "attachment:" not in text
            assert not page.tree.xpath("//article//details[@open]")
            answers += page.tree.xpath("//details/summary[starts-with(., 'Our solution: ')]/text()")
            blanks = page.tree.xpath("//div[contains(@class, 'cell_input')][not(ancestor::details)]")
            shown += "".join(blank.text_content() for blank in blanks)
        assert answers == [f"Our solution: {exercise.symbol}" for exercise in LESSONS[name].exercises]
        assert shown.count("raise NotImplementedError()") >= len(LESSONS[name].exercises)
        assert "BEGIN SOLUTION" not in shown
        for exercise in LESSONS[name].exercises:
            assert f"check({exercise.symbol})" in shown


def test_an_exercise_stands_in_a_frame_with_all_that_belongs_to_it(pages: dict[str, BuiltPage]) -> None:
    for offer in offers():
        frames = [
            (page, frame)
            for page in of_lesson(pages, offer.name)
            for frame in page.tree.xpath("//div[@class='exercise']")
        ]
        for number, (exercise, (page, frame)) in enumerate(zip(offer.exercises, frames, strict=True), start=1):
            heading = frame.getprevious()
            assert heading.tag in ("h2", "h3")
            assert heading.text_content().rstrip("#") == exercise.symbol  # the theme adds a sign to link by
            assert page.tree.xpath(f"//*[@id='{ExerciseAddress(offer.name, exercise.symbol).label.lower()}']") or (
                heading.getparent().get("id")
            )
            chips = [
                " ".join(chip.text_content().split()) for chip in frame.xpath(".//p[contains(@class,'chips')]/span")
            ]
            worth = LESSONS[offer.name][exercise.symbol].points
            points = f"{worth:g} point" + ("" if worth == 1 else "s")
            assert chips[0] == f"Exercise {number} of {len(offer.exercises)}"
            assert chips[1:] == [
                exercise.kind,
                f"difficulty {exercise.difficulty} of 5",
                f"{exercise.minutes} minutes",
                points,
            ]
            hints = frame.xpath(".//summary[starts-with(., 'Hint ')]/text()")
            assert hints == [f"Hint {n} of {len(hints)}" for n in range(1, len(hints) + 1)]
            assert hints
            assert f"check({exercise.symbol})" in frame.text_content()
            assert "In the library: " in frame.text_content()
            assert not frame.xpath(".//h2 | .//h3 | .//figure[@class='touch']")


def test_a_lesson_is_read_part_by_part(pages: dict[str, BuiltPage]) -> None:
    for offer in offers():
        parts = of_lesson(pages, offer.name)
        for number, page in enumerate(parts):
            if number:
                (crumbs,) = page.tree.xpath("//p[contains(@class, 'crumbs')]")
                assert f"part {number} of {len(parts) - 1}" in crumbs.text_content()
                assert page.local(next(crumbs.iter("a")).get("href")) == parts[0].file
                assert f"Lesson {offer.number} · " in page.title
                (before,) = page.tree.xpath("//a[@class='left-prev']/@href")
                assert page.local(before) == parts[number - 1].file
            assert len(page.tree.xpath("//article//h1")) == 1
            (onward,) = page.tree.xpath("//a[@class='right-next']/@href") or [None]
            if number < len(parts) - 1:
                assert page.local(onward) == parts[number + 1].file


def test_what_answers_a_guess_is_folded_away(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        asking = []
        for page in of_lesson(pages, name):
            for cell in page.tree.xpath("//div[contains(@class, 'cell ')]"):
                if GUESS.search(cell.text_content()):
                    asking.append(cell)
                    after = cell.getnext()
                    text = after.text_content() if after is not None and after.tag == "p" else ""
                    assert not text.startswith("What you should see")
            for output in page.tree.xpath("//*[contains(@class, 'cell_output')]//pre | //table//th"):
                assert not re.search(r"your guess", output.text_content(), re.IGNORECASE)
        assert all(cell.xpath(".//details[contains(@class, 'below-input')]") for cell in asking if cell.xpath(OUTPUT))


def test_pictures_wait_until_they_come_near_and_have_their_place(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        for page in of_lesson(pages, name):
            for picture in page.tree.xpath("//article//img"):
                assert picture.get("loading") == "lazy"
                assert picture_size(page.local(picture.get("src"))) == (
                    int(picture.get("width")),
                    int(picture.get("height")),
                )


def test_what_pages_weigh(built: Path, pages: dict[str, BuiltPage]) -> None:
    assert pages["index.html"].weights()[2] < FRONT_PAGE
    for name in lesson_names():
        for page in of_lesson(pages, name):
            assert page.weights()[2] < FIRST_SCREEN, page.title
    files = {path.relative_to(built).as_posix() for path in built.rglob("*")}
    assert not [name for name in files if name.endswith(".map") or "fontawesome" in name or name == "searchindex.js"]
    for name, page in pages.items():
        loaded = [address for _, address in page.resources() if "passages.js" in address]
        assert bool(loaded) == (name == "search.html")
    assert "webfonts" not in (built / "_static" / "styles" / "pydata-sphinx-theme.css").read_text("utf-8")


def test_each_icon_that_a_page_shows_is_drawn(built: Path, pages: dict[str, BuiltPage]) -> None:
    style = (built / "_static" / "site.css").read_text("utf-8")
    sizes = {"fa-solid", "fa-brands", "fa-lg", "fa-fw"}
    shown = {
        name
        for page in pages.values()
        for icon in page.tree.xpath("//*[contains(@class, 'fa-')]")
        for name in icon.get("class").split()
        if name.startswith("fa-")
    }
    assert {"fa-bars", "fa-sun", "fa-angle-right"} <= shown
    assert not [name for name in shown - sizes if not re.search(rf"\.{name}\b[^{{]*\{{ --icon", style)]


def test_a_lesson_says_what_it_takes_and_where_it_leads(built: Path, pages: dict[str, BuiltPage]) -> None:
    for offer in offers():
        page = pages[f"lessons/{offer.name}.html"].tree
        (facts,) = page.xpath("//ul[contains(@class, 'facts')]")
        line = " ".join(facts.text_content().split())
        assert offer.head.time in line
        assert f"{len(offer.exercises)}, worth {offer.points:g} points" in line
        assert offer.builds_on in line
        (badges,) = page.xpath("//p[contains(@class, 'badges')]")
        begin, colab, *here, downloaded = (link.get("href") for link in badges.iter("a"))
        assert pages[f"lessons/{offer.name}.html"].local(begin).is_file()
        assert here in ([], [f"../browser.html?open={offer.name}"])
        assert bool(here) == (built / "lab" / "files" / f"{offer.name}-{syllabi()[0].version}.ipynb").is_file()
        blank = pages[f"lessons/{offer.name}.html"].local(downloaded)
        assert blank.read_bytes() == Repository.find(ROOT).notebook(offer.name).read_bytes()
        assert colab.startswith("https://colab.research.google.com/github/")


def test_formulas_are_written_when_the_site_is_built(pages: dict[str, BuiltPage]) -> None:
    for name in lesson_names():
        assert any(page.tree.xpath("//article//math") for page in of_lesson(pages, name))


def test_search_knows_each_exercise_and_each_word_once(built: Path) -> None:
    text = (built / "_static" / "passages.js").read_text("utf-8")
    index = json.loads(text.removeprefix("window.passages = ").removesuffix(";\n"))
    kinds = {"exercise", "glossary", "lesson", "library", "page"}
    assert {kind for kind, *_ in index} == kinds
    asked = [title for kind, title, *_ in index if kind == "exercise"]
    assert sorted(asked) == sorted(place.symbol for place in EXERCISES)
    addresses = [address for *_, address, _ in index]
    assert not [address for address in addresses if "mistakes/" in address or "lessons/de/" in address]
    assert all((built / address.partition("#")[0]).is_file() for address in addresses)


def test_mistakes_are_light_and_no_learner_is_led_to_them(pages: dict[str, BuiltPage]) -> None:
    for name, lesson in LESSONS.items():
        page = pages[f"mistakes/{name}.html"]
        advice = {" ".join(p.text_content().split()) for p in page.tree.xpath("//p[contains(@class, 'advice')]")}
        for exercise in lesson.exercises:
            assert {" ".join(mistake.advice.split()) for mistake in exercise.mistakes} <= advice
        assert page.weights()[0] < 150_000
        assert page.tree.xpath("//meta[@name='robots'][@content='noindex']")
        listed = (pages[f"{one}.html"] for one in ("lessons/index", "lessons/exercises", "guides/learners"))
        for learners in (*of_lesson(pages, name), *listed):
            assert not learners.tree.xpath("//article//a[contains(@href, 'mistakes/')]")


def test_the_front_page_shows_the_real_thing(pages: dict[str, BuiltPage]) -> None:
    page = pages["index.html"]
    assert "Build a Transformer yourself" in page.tree.xpath("string(//meta[@name='description']/@content)")
    check = Checker("05")
    (mistake,) = [m for m in check.lesson["causal_mask"].mistakes if m.name == "one_step_too_far"]
    html = lxml.html.tostring(lxml.html.fromstring(card(check.verdict("causal_mask", mistake.implementation))))
    shown = page.tree.xpath("//*[@role='tabpanel']//*[@role='group'][starts-with(@aria-label, 'Not yet')]")
    assert lxml.html.tostring(shown[0], with_tail=False) == html
    assert len(shown) == len(page.tree.xpath("//*[@role='tab']")) == 3
    assert page.tree.xpath("count(//*[@role='tabpanel'][not(@hidden)])") == 1  # without the script: the first
    for panel in page.tree.xpath("//*[@role='tabpanel']"):
        assert panel.xpath(".//pre//mark")


def test_its_numbers_are_the_courses_and_its_buttons_lead_somewhere(pages: dict[str, BuiltPage]) -> None:
    page, lessons = pages["index.html"].tree, offers()
    exercises, hours, price = (int(one) for one in page.xpath("//ul[contains(@class, 'numbers')]//strong/text()"))
    assert exercises == sum(len(offer.exercises) for offer in lessons)
    assert hours == round(sum(sum(offer.head.sittings) for offer in lessons) / 60)
    assert price == 0
    assert f"{len(lessons)} notebooks" in page.xpath("string(//*[contains(@class, 'lead')])")
    known = sum(len(exercise.mistakes) for lesson in LESSONS.values() for exercise in lesson.exercises)
    assert f"{known:,} mistakes" in page.xpath("string(//*[contains(@class, 'try')])")
    (buttons,) = page.xpath("//*[contains(@class, 'lead')]//p[contains(@class, 'buttons')]")
    here, colab, machine, teach = buttons.iter("a")
    assert colab.get("href") == in_colab(Repository.find(ROOT), lessons[0].name)
    assert page.xpath("//*[@id=$place]", place=here.get("href").removeprefix("#"))
    assert (machine.get("href"), teach.get("href")) == ("start.html", "guides/grading.html")


@pytest.mark.parametrize("name", ["index.html", "lessons/index.html"])
def test_no_card_is_empty(pages: dict[str, BuiltPage], name: str) -> None:
    page, lessons = pages[name], offers()
    cards = page.tree.xpath("//li[contains(@class, 'card')]")
    assert [entry.get("id") for entry in cards] == [offer.name for offer in lessons]
    for entry, offer in zip(cards, lessons, strict=True):
        (picture,) = entry.iter("img")
        assert page.local(picture.get("src")).stat().st_size > 1000
        assert picture.get("alt")
        assert picture.get("loading") == "lazy"
        assert int(picture.get("width")) > int(picture.get("height")) / 2 > 0
        words = " ".join(entry.text_content().split())
        for text in (f"Lesson {offer.number}", offer.title, offer.head.topic, f"{len(offer.exercises)} exercise"):
            assert text in words
        (link,) = entry.xpath(".//h4/a")
        assert page.local(link.get("href")) == pages[f"lessons/{offer.name}.html"].file.resolve()
    for tile in page.tree.xpath("//div[@class='tile']"):
        assert tile.xpath(".//img | .//pre[normalize-space(.)] | .//dd[normalize-space(.)]")
        assert tile.xpath("string(.//*[contains(@class, 'caption')])").strip()
    assert len(page.tree.xpath("//div[@class='tile']")) == (6 if name == "index.html" else 0)


def test_the_lessons_say_what_leads_to_what(pages: dict[str, BuiltPage]) -> None:
    page = pages["lessons/index.html"]
    for drawing in page.tree.xpath("//svg[contains(@class, 'map')]"):
        assert [link.get("href") for link in drawing.iter("a")] == [f"{offer.name}.html" for offer in offers()]
    for offer in offers():
        (entry,) = page.tree.xpath(f"//li[@id='{offer.name}']")
        jumps = {link.get("href").removeprefix("#") for link in entry.xpath(".//*[@class='ways']//a")}
        later = {other.name for other in offers() if offer.name in other.head.lessons}
        assert jumps == set(offer.head.lessons) | later
        assert [" ".join(line.text_content().split()) for line in entry.xpath(".//details//li")] == list(offer.gives)


def test_all_exercises_are_listed_by_part(pages: dict[str, BuiltPage]) -> None:
    page = pages["lessons/exercises.html"].tree
    assert not page.xpath("//article//table")  # it would not fit on a phone
    listed = [" ".join(term.text_content().split()) for term in page.xpath("//article//dt")]
    assert listed == [place.symbol for place in EXERCISES]
    text = " ".join(page.xpath("string(//article)").split())
    for offer in offers():
        assert offer.heading in text
        for exercise in offer.exercises:
            assert exercise.part in text
            assert f"{exercise.kind} · difficulty {exercise.difficulty} of 5 · {exercise.minutes} minutes" in text


def test_every_page_says_what_it_is(pages: dict[str, BuiltPage]) -> None:
    listed = {name: p for name, p in pages.items() if not p.tree.xpath("//meta[@name='robots'][@content='noindex']")}
    titles = Counter(page.tree.findtext(".//title") for page in listed.values())
    for name, page in listed.items():
        title = page.tree.findtext(".//title")
        assert title.count("Transformers, cell by cell") == 1, title
        assert titles[title] == 1, f"{name} has the title of another page"
        if name not in ("genindex.html", "py-modindex.html", "search.html", "404.html"):
            (description,) = page.tree.xpath("//meta[@name='description']/@content")
            assert 20 < len(description) <= 250, name
        assert page.tree.xpath("//meta[@property='og:title']/@content")
        (icon,) = page.tree.xpath("//link[@rel='icon']/@href")
        assert page.local(icon).is_file()
    for offer in offers():
        assert offer.heading in pages[f"lessons/{offer.name}.html"].tree.findtext(".//title")
        side = " ".join(nav.text_content() for nav in pages[LESSON].tree.iter("nav"))
        assert offer.heading.removeprefix("Lesson ") in side


def test_the_glossary_can_be_linked_to_and_is(pages: dict[str, BuiltPage]) -> None:
    glossary = pages["lessons/glossary.html"].tree
    terms = glossary.xpath("//article//dt//*[starts-with(@id, 'term-')]/@id")
    assert len(set(terms)) == len(terms) == len(glossary.xpath("//article//dt")) > 100
    bar = glossary.xpath("//p[contains(@class, 'letters')]//a/@href")
    assert len(bar) > 15
    assert all(glossary.xpath(f"//*[@id='{letter.removeprefix('#')}']") for letter in bar)
    for name in lesson_names():
        trees = (page.tree for page in of_lesson(pages, name))
        links = [link for tree in trees for link in tree.xpath("//a[contains(@class, 'explained')]/@href")]
        assert len(links) > 5
        assert {link.partition("#")[2] for link in links} <= set(terms)


def test_the_page_for_a_wrong_address(pages: dict[str, BuiltPage]) -> None:
    page = pages["404.html"].tree
    assert "no such page" in page.xpath("string(//h1)")
    assert page.xpath("//main//a[@href='lessons/index.html']")


@later
def test_a_site_that_knows_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The front page alone, as below."""
    monkeypatch.setenv("SITE_ADDRESS", "https://example.org/course/")
    alone(tmp_path)
    page = BuiltPage(tmp_path / "index.html").tree
    (picture,) = page.xpath("//meta[@property='og:image']/@content")
    assert picture == "https://example.org/course/_static/preview.png"
    assert (tmp_path / "_static" / "preview.png").is_file()
    assert page.xpath("//link[@rel='canonical']/@href") == ["https://example.org/course/index.html"]
    listed = lxml.html.fromstring((tmp_path / "sitemap.xml").read_bytes()).xpath("//loc/text()")
    assert listed == ["https://example.org/course/"]
    wrong = BuiltPage(tmp_path / "404.html").tree
    assert wrong.xpath("//main//a[@href='https://example.org/course/index.html']")
    assert wrong.xpath("//link[@rel='stylesheet']/@href")[0].startswith("https://example.org/course/_static/front.css")


def test_the_page_on_trust_lists_what_is_tested(pages: dict[str, BuiltPage]) -> None:
    text = pages["trust.html"].tree.xpath("string(//article)")
    names = [
        name
        for file in (ROOT / "tests" / "attacks").glob("test_*.py")
        for name in re.findall(r"^def test_(\w+)", file.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(names) > 50
    assert all(name.replace("_", " ").capitalize() in text for name in names)
    assert all(name in text for name in lesson_names())


def test_the_stated_weights_are_those_of_the_pages(built: Path, pages: dict[str, BuiltPage]) -> None:
    stated = [[cell.text_content() for cell in row] for row in pages["numbers.html"].tree.xpath("//article//tr")]
    now = table(built)
    assert stated == [list(row) for row in now]
    front, *lessons = now[1:]
    assert int(front[2]) + int(front[3]) < 30  # it has styles of its own, and nothing else
    for row, offer in zip(lessons, offers(), strict=True):
        assert offer.heading in row[0]
    for name, minutes, page, parts, first, _ in lessons:
        assert 0 < int(minutes) < 120, name
        assert 5 < int(page) < 60, name  # compressed: a part of a lesson, and its pictures are files
        assert 50 < int(parts) < 150, name
        assert int(page) + int(parts) <= int(first) + 1, name


def test_a_translated_lesson(pages: dict[str, BuiltPage]) -> None:
    page = pages["lessons/de/05_causal_masks.html"]
    assert "Lektion 5 · Die Zukunft verbergen" in page.tree.findtext(".//title")
    (badges,) = page.tree.xpath("//p[contains(@class, 'badges')]")
    _, link = badges.iter("a")  # Colab has no such notebook
    spoken = {e.tag for e in page.tree.xpath("//article//*[@lang='de']")}
    assert {"h1", "p"} <= spoken
    (first, *_) = of_lesson(pages, "de/05_causal_masks")[1:]
    assert {"h1", "p"} <= {e.tag for e in first.tree.xpath("//article//*[@lang='de']")}
    assert not any("What you should see" in e.text_content() for e in page.tree.xpath("//*[@lang='de']"))
    notebook = json.loads(page.local(link.get("href")).read_text("utf-8"))
    assert "".join(notebook["cells"][0]["source"]).startswith("# Lektion 5 · Die Zukunft verbergen")
    assert page.tree.xpath("//a[normalize-space(.)='English']")
    assert pages[LESSON].tree.xpath("//a[normalize-space(.)='Deutsch']")
    assert page.tree.xpath("//meta[@name='robots'][@content='noindex']")
    assert [e.get("src") for e in page.tree.xpath("//article//img")] == [
        f"../{e.get('src')}" for e in pages[LESSON].tree.xpath("//article//img")
    ]


@later
def test_what_can_be_translated(tmp_path: Path) -> None:
    catalogue = made_by("gettext", tmp_path)
    for page in ("index", "trust", "comparison", "guides/site", "lessons/glossary"):
        assert (catalogue / f"{page}.pot").is_file()
    for name in lesson_names():
        messages = (catalogue / "notebooks" / f"{name}.pot").read_text("utf-8")
        assert messages.count("\nmsgctxt ") > 20
        assert f"# Lesson {int(name[:2])} · " in messages


@later
def test_a_translated_page(tmp_path: Path) -> None:
    """The front page alone: without the others its links lead nowhere, so warnings are none of our business here."""
    alone(tmp_path, "--define", "language=de")
    page = BuiltPage(tmp_path / "index.html").tree
    assert page.get("lang") == "de"
    assert page.xpath("string(//meta[@name='description']/@content)")
    assert page.xpath("string(//h1)").startswith("Baue einen Transformer.")
    assert "Was du gebaut haben wirst" in page.text_content()


def alone(folder: Path, *options: str) -> None:
    """Builds the front page without the others."""
    others = ["_build", "_templates", "api", "guides", "lessons", "locale", "mistakes", "notebooks"]
    others += [page.name for page in SITE.glob("*.md") if page.stem != "index"]
    define = ["--define", f"exclude_patterns={','.join(others)}", *options]
    sphinx_apart.build("--quiet", "--builder", "html", *define, SITE, folder)


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


CUT_OFF = """() => [...document.querySelectorAll('main *, header *, footer *')].filter(element => {
  const box = element.getBoundingClientRect();
  const scrolls = parent => /auto|scroll/.test(getComputedStyle(parent).overflowX);
  const text = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if (!text || !element.checkVisibility() || box.left >= innerWidth || box.right <= innerWidth + 1) return false;
  for (let parent = element; parent !== document.body; parent = parent.parentElement)
    if (scrolls(parent) && parent.scrollWidth > parent.clientWidth) return false;
  return true;
}).map(element => element.textContent)"""
"""Texts that begin within the window and end beyond it, where nobody can scroll to them."""


def test_what_cannot_be_read_is_found_by_its_look(visit: Visit) -> None:
    page = visit(LESSON)
    assert violations(page) == []
    page.locator("article p").last.evaluate("text => { text.style.color = '#bbb'; }")
    pale = violations(page)
    assert {rule for rule, _, _ in (violation.partition(":") for violation in pale)} == {"color-contrast"}
    page.locator("article h1").evaluate("heading => heading.outerHTML = '<h1></h1><img src=../_static/favicon.svg>'")
    assert any(violation.startswith("image-alt") for violation in violations(page))


@pytest.mark.parametrize(
    "looks",
    [
        {"phone": "dark", "desktop": "light"},
        pytest.param({"phone": "light", "desktop": "dark"}, marks=later),
    ],
    ids=["phone-dark-desktop-light", "phone-light-desktop-dark"],
)
@pytest.mark.parametrize("name", [*KINDS, *(pytest.param(name, marks=later) for name in MORE_KINDS)])
def test_every_kind_of_page_is_open_to_everybody(visit: Visit, name: str, looks: dict[str, Any]) -> None:
    page = visit(name, WIDTHS["phone"], looks["phone"])
    for width, scheme in looks.items():
        if width != "phone":
            page.set_viewport_size({"width": WIDTHS[width], "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.reload(wait_until="load")
        assert violations(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width], width
        assert page.evaluate(CUT_OFF) == [], width


@later
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_open_to_everybody(visit: Visit, address: str, pages: dict[str, BuiltPage], scheme: str) -> None:
    page = visit("index.html", WIDTHS["phone"], scheme)
    for name in pages:
        page.goto(f"{address}/{name}", wait_until="load")
        assert violations(page, every=True) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"], name
        assert page.evaluate(CUT_OFF) == [], name


def test_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit(PART)
    page.keyboard.press("Tab")
    first = page.locator(":focus")
    assert first.inner_text().strip() == "Skip to main content"
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")  # it slides in
    page.keyboard.press("Enter")
    page.wait_for_url("**#main-content")
    answer = page.locator("details", has=page.locator("summary", has_text="Our solution")).first
    assert not answer.locator("div.highlight").is_visible()
    answer.locator("summary").focus()
    outline = "element => getComputedStyle(element).outlineStyle"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate(outline) != "none"
    page.keyboard.press("Enter")
    answer.locator("div.highlight").first.wait_for(state="visible")


def test_slips_are_chosen_with_the_keyboard(visit: Visit) -> None:
    page = visit("index.html")
    tabs, panels = page.locator("[role=tab]"), page.locator("[role=tabpanel]")
    for number in range(tabs.count()):  # each fits: nothing moves below
        assert panels.nth(number).is_visible() == (number == 0)
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert page.locator(":focus").inner_text() == tabs.nth(1).inner_text()
    assert panels.nth(1).is_visible()
    assert not panels.first.is_visible()
    page.keyboard.press("End")
    assert panels.last.is_visible()
    page.keyboard.press("ArrowRight")
    assert panels.first.is_visible()


def test_the_front_page_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/index.html")
    assert page.locator("[role=tabpanel]").first.is_visible()
    assert not page.locator("[role=tablist]").is_visible()
    assert not page.locator("button.mode").is_visible()
    context.close()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_says_it_all(visit: Visit, width: int, height: int) -> None:
    page = visit("index.html", width)
    for what in ("h1", ".lead .who", ".lead .numbers", ".lead .buttons"):
        box = page.locator(what).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height, what
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_light_and_dark_are_chosen_for_all_pages(visit: Visit) -> None:
    page = visit("index.html")
    page.locator("button.mode").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(page.url.replace("index.html", "start.html"))
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


ASKED = """queries => Object.fromEntries(queries.map(query =>
    [query, window.search(query).slice(0, 5).map(({kind, address}) => [kind, address])]))"""


def test_search_finds_each_exercise_first(visit: Visit) -> None:
    """By its name, or by what it does."""
    page = visit("search.html")
    does = {place: Map(LESSONS).does(place) for place in EXERCISES}
    hits = page.evaluate(ASKED, [*(place.symbol for place in EXERCISES), *does.values()])
    for place in EXERCISES:
        kinds = [kind for kind, address in hits[place.symbol] if f"lessons/{place.lesson}/" in address]
        assert kinds[:1] == ["exercise"], hits[place.symbol]
        assert any(f"lessons/{place.lesson}/" in address for _, address in hits[does[place]]), does[place]


IDEAS = {
    "hide the future": "05_causal_masks",
    "reads ahead": "05_causal_masks",
    "learn which byte pairs to merge": "02_tokenizer",
    "heads side by side": "03_classification_transformer",
    "teacher forcing": "04_seq2seq_cross_attention",
    "rotate queries and keys": "06_positional_encodings",
    "nucleus sampling": "07_autoregressive_sampling",
    "label smoothing": "08_attention_is_all_you_need",
    "gradient by hand": "09_numpy_transformer",
    "exploding gradients": "10_training_well",
}


def test_search_finds_an_idea(visit: Visit) -> None:
    answers = visit("search.html").evaluate(ASKED, list(IDEAS))
    for idea, lesson in IDEAS.items():
        assert any(f"lessons/{lesson}" in address for _, address in answers[idea]), (idea, answers[idea])


SUBJECTS = {
    "attention": "03",
    "positional encoding": "06",
    "encoder decoder": "04",
    "multi-head attention": "03",
    "tokenizer": "02",
    "beam search": "07",
    "layer norm": "03",
    "KV cache": "07",
    "causal mask": "05",
    "LoRA": "12",
    "warm-up": "08 10",
    "byte pair encoding": "02",
}


def test_search_finds_the_lesson_of_a_subject_among_the_first_two(visit: Visit) -> None:
    answers = visit("search.html").evaluate(ASKED, list(SUBJECTS))
    for subject, lessons in SUBJECTS.items():
        first = [address for _, address in answers[subject][:2]]
        assert any(f"lessons/{number}_" in address for number in lessons.split() for address in first), (subject, first)


def test_searching_from_any_page(visit: Visit) -> None:
    page = visit("start.html")
    page.locator(".site-search input").fill("causal mask")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li")
    results.first.wait_for()
    kinds = [results.nth(place).get_attribute("class") for place in range(3)]
    assert kinds[0] == "exercise"
    assert "glossary" in kinds
    assert results.first.locator("mark").count() >= 1
    assert "Which positions may each position look at?" in results.first.inner_text()
    results.first.locator("a").click()
    page.wait_for_url("**/part-2-the-mask.html#exercise-05-causal-mask")
    page.go_back()
    page.locator("#search-words").fill("zzyzzx")
    page.get_by_text("Nothing has these words: zzyzzx").wait_for()


def test_code_can_be_copied(visit: Visit) -> None:
    page = visit(PART)
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    block = page.locator(".exercise > .cell > .cell_input div.highlight").first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    copied = page.evaluate("window.copied")
    assert copied.startswith("def causal_mask(length: int)")
    assert copied.endswith("raise NotImplementedError()")


def test_a_link_into_a_fold_opens_it(visit: Visit) -> None:
    page = visit(PART)
    place = page.evaluate("""() => {
        const inside = document.querySelector("article details details p");
        inside.id = "inside";
        location.hash = "inside";
        return inside.textContent;
    }""")
    page.get_by_text(place).wait_for(state="visible")


@pytest.mark.parametrize(("name", "most"), [("index.html", FRONT_PAGE), (LESSON, FIRST_SCREEN), (PART, FIRST_SCREEN)])
def test_what_travels_until_a_page_can_be_seen(visit: Visit, built: Path, name: str, most: int) -> None:
    """All that a browser asks for without a scroll, compressed as a server sends it."""
    page = visit(name, 1440)
    asked = page.evaluate("performance.getEntriesByType('resource').map(entry => new URL(entry.name).pathname)")
    files = {built / unquote(path).lstrip("/") for path in asked} | {built / name}
    travelled = sum(
        path.stat().st_size
        if path.suffix in (".png", ".gif", ".jpg", ".webp")
        else len(gzip.compress(path.read_bytes()))
        for path in files
        if path.is_file()
    )
    assert travelled < most


def test_on_paper_nothing_is_cut_off(visit: Visit) -> None:
    page = visit(PART)
    page.emulate_media(media="print")
    assert (
        page.locator("article div.highlight > pre").first.evaluate("block => getComputedStyle(block).whiteSpace")
        == "pre-wrap"
    )
    wide = "blocks => blocks.filter(block => block.scrollWidth > block.clientWidth + 1).length"
    assert page.locator("article div.highlight > pre").evaluate_all(wide) == 0
    assert not page.locator("#jb-print-docs-body").is_visible()


# Figures to touch


def figure(page: Page, name: str) -> Locator:
    element = page.locator(f"#touch-{name}.ready")
    element.wait_for()
    return element


def test_painting_a_mask_with_the_keyboard(visit: Visit) -> None:
    page = visit(PART)
    masks = figure(page, "masks")
    says = masks.locator(".says")
    cell = masks.get_by_role("button", name="^ looks at c", exact=True)
    assert cell.get_attribute("aria-pressed") == "false"
    masks.get_by_role("button", name="^ looks at ^", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert cell.get_attribute("aria-pressed") == "true"
    assert "A leak" in says.inner_text()
    masks.get_by_role("button", name="one step too far").click()
    advice = next(m.advice for m in LESSONS["05_causal_masks"]["causal_mask"].mistakes if m.name == "one_step_too_far")
    assert says.inner_text() == " ".join(advice.split())
    masks.get_by_role("button", name="causal", exact=True).click()
    assert says.inner_text().startswith("The causal mask")


def test_the_attention_of_the_figure_is_the_courses(visit: Visit) -> None:
    page = visit(f"lessons/{FIGURED[0][0]}/{FIGURED[0][1]}.html")
    attention = figure(page, "attention")
    numbers = json.loads(attention.locator("script").text_content() or "")
    query = [0.5, -1.0, 2.0, 1.5]
    output, weights = scaled_dot_product_attention(*map(torch.tensor, ([query], numbers["keys"], numbers["values"])))
    shown = attention.evaluate("(figure, query) => figure.attend(query)", query)
    assert shown["weights"] == pytest.approx(weights[0].tolist(), abs=1e-5)
    assert shown["output"] == pytest.approx(output[0].tolist(), abs=1e-4)
    attention.get_by_label("cat", exact=True).check()
    assert attention.locator(".says").inner_text().startswith("cat asks (0, 1, 1, 1)")


def test_the_samplers_of_the_figure_are_the_courses(visit: Visit) -> None:
    page = visit(f"lessons/{FIGURED[2][0]}/{FIGURED[2][1]}.html")
    sampling = figure(page, "sampling")
    logits = torch.tensor([json.loads(sampling.locator("script").text_content() or "")["logits"]], dtype=torch.float64)
    for temperature, k, p in [(1, 12, 1), (0.3, 12, 0.9), (2.5, 7, 0.62), (1, 3, 0.4), (0.1, 1, 0.05), (1, 12, 0.5)]:
        wanted = torch.softmax(top_p_filter(top_k_filter(logits / temperature, k), p), dim=-1)[0]
        shares = sampling.evaluate("(figure, setting) => figure.left(...setting)", [temperature, k, p])
        assert shares == pytest.approx(wanted.tolist(), abs=1e-6), (temperature, k, p)
    slider = sampling.get_by_label("top-k")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    assert sampling.locator(".says").inner_text().startswith("2 of 12 words can be drawn")


def test_the_clocks_agree_with_the_matrices(visit: Visit) -> None:
    page = visit(f"lessons/{FIGURED[1][0]}/{FIGURED[1][1]}.html")
    clocks = figure(page, "clocks")
    for key in ("ArrowRight", "End", "Home"):
        for name in ("position p", "shift k"):
            clocks.get_by_label(name).focus()
            page.keyboard.press(key)
            assert clocks.evaluate("figure => figure.off") < 1e-3
    assert "p = 8, k = -8" in clocks.locator(".says").inner_text()


def test_beam_search_step_by_step_with_the_keyboard(visit: Visit) -> None:
    page = visit(f"lessons/{FIGURED[3][0]}/{FIGURED[3][1]}.html")
    beams = figure(page, "beams")
    beams.get_by_role("button", name="Next step").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert beams.locator(".says").inner_text().endswith("2 beams find b..")
    assert page.locator(":focus").inner_text() == "Step back"
    beams.get_by_label("1", exact=True).check()
    assert beams.locator(".says").inner_text().startswith("Nothing has been written yet")


def test_figures_without_javascript(browser: Browser, address: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{address}/{PART}")
    masks = page.locator("#touch-masks")
    assert masks.locator("td", has_text="yes").count() == 10
    assert not masks.locator(".needs-script").first.is_visible()
    page.close()


ALL_PICTURES = """Promise.all([...document.images].map(image => {
  image.loading = "eager";
  return image.decode().catch(() => {});
}))"""
"""Also of those that are loaded when somebody scrolls to them."""
PICTURED = {
    "front": "index.html",
    "lessons": "lessons/index.html",
    "exercises": "lessons/exercises.html",
    "lesson": LESSON,
    "part": PART,
    "search": "search.html?q=causal+mask",
}


def test_screenshots_are_kept(visit: Visit, tmp_path: Path) -> None:
    """Where CI keeps pictures, it says so in SCREENSHOTS: somebody may look at what a change makes of the pages."""
    folder = Path(os.environ.get("SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    looks = list(itertools.product(PICTURED, (390, 820, 1440), ("light", "dark")))
    for name, width, scheme in looks if "SCREENSHOTS" in os.environ else looks[:1]:
        path = folder / f"{name}-{width}-{scheme}.png"
        page = visit(PICTURED[name], width, scheme)
        page.evaluate(ALL_PICTURES)
        page.screenshot(path=path, full_page=name in ("front", "lessons"))
        assert path.stat().st_size > 10_000
