"""Cleaned texts in a real browser, on nbconvert's page and by themselves: nothing runs, loads, or is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbconvert import HTMLExporter
from playwright.sync_api import Page, Request

from cellcheck.repository import Repository
from cellcheck.running.cleaning import clean
from tests.running.test_cleaning import HARMFUL, PIECES, PLAIN, READERS, REWRITTEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPOSITORY = Repository.find(Path(__file__).parent)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one, red
PNG = {"plot.png": {"image/png": PIXEL}}
ELSEWHERE = "https://evil.example/"
# Counts what runs, in frames too.
CANARY = "top.sung ??= 0; window.alert = () => { top.sung += 1 }"
CELLS = ".text_cell_render, .jp-RenderedMarkdown"
# Events that a person would set off; whatever answers one of them has an attribute for it.
POKE = """() => {
  for (const element of document.querySelectorAll('body *')) {
    if (element.tagName === 'DETAILS') element.open = !element.open;
    for (const event of ['mouseover', 'focus', 'click', 'toggle', 'load', 'error', 'pointerenter', 'wheel'])
      if (!element.href) element.dispatchEvent(new Event(event));
  }
}"""
# Each cell's words and pictures with their places in it, their colours and weights. A comment shows nothing, but it
# splits the words around it.
LOOK = """cells => [...document.querySelectorAll(cells)].map(cell => {
  const comments = document.createTreeWalker(cell, NodeFilter.SHOW_COMMENT), dropped = [];
  while (comments.nextNode()) dropped.push(comments.currentNode);
  dropped.forEach(comment => comment.remove());
  cell.normalize();
  const origin = cell.getBoundingClientRect(), seen = [];
  const box = r => [r.x - origin.x, r.y - origin.y, r.width, r.height].map(Math.round);
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.tagName === 'IMG') seen.push(['picture', ...box(node.getBoundingClientRect())]);
    if (node.nodeType !== 3 || !node.data.trim() || node.parentElement.closest('.anchor-link')) continue;
    const range = document.createRange(), style = getComputedStyle(node.parentElement);
    range.selectNodeContents(node);
    const type = [style.color, style.fontWeight, style.fontStyle];
    seen.push([node.data.trim(), ...box(range.getBoundingClientRect()), ...type]);
  }
  return [Math.round(origin.height), seen];
})"""


def cell(source: str, pictures: dict[str, Any] = PNG) -> Any:
    """A Markdown cell."""
    return nbformat.v4.new_markdown_cell(source, attachments=pictures)


def in_a_notebook(cells: Sequence[Any]) -> str:
    """The page that nbconvert makes, in the template that nbgrader's pages extend."""
    for number, each in enumerate(cells):
        each.id = f"cell-{number}"
    html, _ = HTMLExporter(template_name="classic").from_notebook_node(nbformat.v4.new_notebook(cells=list(cells)))
    return str(html)


def by_themselves(texts: Sequence[str]) -> str:
    """The same texts as readers of Markdown hand them to a page."""
    sections = (f"<section>{read(text)}</section>" for text in texts for read in READERS.values())
    return "<!doctype html><title></title><body>" + "".join(sections)


class Visit:
    """A page, and what it asked for and ran while it was there."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        page.on("request", self._asks)
        page.route("http*://**", lambda route: route.abort())
        page.add_init_script(CANARY)
        page.goto("about:blank")

    def _asks(self, request: Request) -> None:
        self.asked.append(request.url)

    def show(self, html: str) -> int:
        """Loads a page and pokes at everything on it; returns how often a canary sang."""
        self.asked.clear()
        self.page.evaluate("sung = 0")
        self.page.set_content(html, wait_until="load")
        self.page.evaluate(POKE)
        self.page.wait_for_function("true")  # whatever was set off has run
        return int(self.page.evaluate("sung"))

    def elsewhere(self) -> set[str]:
        """The addresses that it asked for, of those that are not its own pictures."""
        return {url for url in self.asked if not url.startswith(("data:image/png;base64,", "about:"))}


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.set_default_timeout(300_000)
    yield Visit(page)
    page.close()


def test_unclean_they_do_run_and_load(visit: Visit) -> None:
    """Else the tests below would say nothing."""
    stopping = re.compile("attachment:|refresh")  # no page comes of the one, and another page of the other
    running = {name for name, text in HARMFUL.items() if not stopping.search(text) if visit.show(by_themselves([text]))}
    assert running >= {"a script", "a handler", "svg that loads", "an equals sign before the quote", "one that opens"}
    assert len(running) > 12
    visit.show(by_themselves([f"![x]({ELSEWHERE}seen.png)"]))
    assert visit.elsewhere() == {f"{ELSEWHERE}seen.png"}


def test_nothing_runs_and_nothing_is_asked_for(visit: Visit) -> None:
    texts = [clean(text, PNG) for text in HARMFUL.values()]
    template = in_a_notebook([])  # which brings MathJax and the like, and asks for some of them when it has time
    assert visit.show(in_a_notebook([cell(text) for text in texts])) == 0
    assert {url for url in visit.elsewhere() if url not in template} == set()
    assert visit.show(by_themselves(texts)) == 0
    assert visit.elsewhere() == set()


def test_what_is_typed_at_random_runs_nothing(visit: Visit) -> None:
    @given(st.lists(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), min_size=20, max_size=20))
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    def shown(texts: list[str]) -> None:
        assert visit.show(by_themselves([clean(text, PNG) for text in texts])) == 0
        assert not {url for url in visit.elsewhere() if ":" in url}

    shown()


def test_what_a_text_needs_is_there(visit: Visit) -> None:
    texts = [*PLAIN.values(), *(source for source, _ in REWRITTEN.values())]
    visit.show(in_a_notebook([cell(clean(text, PNG)) for text in texts]))
    for selector in ("strong", "em", "code", "del", "ul li", "ol li", "blockquote", "table td", "pre .k", "h1", "sub"):
        assert visit.page.locator(f":is({CELLS}) {selector}").count() > 0, selector
    assert visit.page.evaluate("[...document.images].map(image => image.naturalWidth)").count(1) == 1
    words = visit.page.inner_text("body")
    assert "$a < b \\le c$, $a<b$ and" in words
    assert "\\begin{align} a &< b \\\\ c &= d \\end{align}" in words


def test_the_lessons_texts_look_the_same(visit: Visit) -> None:
    """Every text of every lesson, as if a learner had written it, but for links to files, and with small pictures."""
    texts = []
    for lesson in REPOSITORY.names():
        for each in nbformat.read(REPOSITORY.notebook(lesson), 4).cells:
            if each.cell_type == "markdown":
                source = re.sub(r"\]\(\.\./[^)]*\)", "](https://example.org)", each.source)
                pictures = {name: dict.fromkeys(kinds, PIXEL) for name, kinds in each.get("attachments", {}).items()}
                texts.append((source, clean(source, pictures), pictures))
    assert len(texts) > 500
    rewritten = [(before, after, pictures) for before, after, pictures in texts if before != after]
    assert len(rewritten) > 100
    looks = []
    for which in (0, 1):
        visit.page.set_content(in_a_notebook([cell(text[which], text[2]) for text in rewritten]), wait_until="load")
        visit.page.add_style_tag(content=".anchor-link { display: none !important }")  # shown where the mouse is
        visit.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        looks.append(visit.page.evaluate(LOOK, CELLS))
    assert len(looks[0]) == len(rewritten)
    for before, after in zip(*looks, strict=True):
        assert after == before
