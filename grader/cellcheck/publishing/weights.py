"""How heavy the built pages are, and how long they take to read.

`{weights}` shows it on a page, and `make site-numbers` in a terminal. It is measured when all pages are there.
"""

from __future__ import annotations

import gzip
import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import lxml.html
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cellcheck.publishing.lesson_pages import reading_minutes
from cellcheck.repository import Repository

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = ("page", "minutes to read", "page, kB", "styles and scripts, kB", "first screen, kB", "pictures, kB")
FIRST = 3
"""So many pictures come with the first screen; a browser fetches the others when they come near."""
_PLACE = "<!-- weights: begin -->{}<!-- weights: end -->"
_LOADED = {"stylesheet", "preload", "modulepreload", "icon", "shortcut"}


@dataclass(frozen=True)
class Page:
    """A built page, with all that it loads."""

    file: Path

    @cached_property
    def tree(self) -> lxml.html.HtmlElement:
        """The page's elements."""
        return lxml.html.fromstring(self.file.read_bytes())

    @property
    def title(self) -> str:
        """Its first heading."""
        return str(self.tree.findtext(".//title")).split(" — ")[0]

    def resources(self) -> Iterator[tuple[str, str]]:
        """What a browser fetches to show it: the element's name, and the address."""
        for element in self.tree.iter("img", "script", "link", "iframe", "source", "video", "audio", "embed", "object"):
            address = element.get("src") or element.get("data") or element.get("href")
            if address and (element.tag != "link" or _LOADED & set(element.get("rel", "").split())):
                yield element.tag, address

    def weights(self) -> tuple[int, int, int, int]:
        """Bytes: the page and what else it needs, compressed as they travel; the first screen; all its pictures."""
        files: dict[bool, list[Path]] = {True: [], False: []}
        for tag, address in self.resources():
            path = self.local(address)
            if not address.startswith("data:") and path not in files[tag == "img"]:
                files[tag == "img"].append(path)
        page, others = _travelling(self.file), sum(map(_travelling, files[False]))
        pictures = [path.stat().st_size for path in files[True]]
        return page, others, page + others + sum(pictures[:FIRST]), sum(pictures)

    def local(self, address: str) -> Path:
        """The file that an address on this page leads to."""
        return (self.file.parent / unquote(address.split("?")[0].split("#")[0])).resolve()


@cache  # all pages load the same ones
def _travelling(path: Path) -> int:
    """The bytes that a server sends for a file; fonts are compressed already."""
    return path.stat().st_size if path.suffix.startswith(".woff") else len(gzip.compress(path.read_bytes(), 6))


def table(built: Path) -> list[tuple[str, ...]]:
    """The front page, and of each lesson the page whose first screen is heaviest."""
    repository = Repository.find()
    rows = [_row(Page(built / "index.html"), "1")]
    for name in repository.names():
        files = [built / "lessons" / f"{name}.html", *sorted((built / "lessons" / name).glob("*.html"))]
        heaviest = max(map(Page, files), key=lambda page: page.weights()[2])
        rows.append(_row(heaviest, str(reading_minutes(repository, name))))
    return [HEAD, *rows]


def _row(page: Page, minutes: str) -> tuple[str, ...]:
    return page.title, minutes, *(str(round(weight / 1000)) for weight in page.weights())


class Weights(SphinxDirective):
    """`{weights}`: the table, as soon as the pages are there to be measured."""

    def run(self) -> list[nodes.Node]:
        """Keeps its place."""
        self.env.metadata[self.env.docname]["weights"] = "yes"
        return [nodes.raw("", _PLACE.format(""), format="html")]


def fill_in(app: Sphinx, failed: Exception | None) -> None:
    """Puts the table where a page has kept its place."""
    documents = [name for name, metadata in app.env.metadata.items() if "weights" in metadata]
    if app.builder.name != "html" or failed or not documents:
        return
    head, *rows = table(Path(app.outdir))
    lines = [f"<tr>{''.join(f'<th scope=col>{cell}</th>' for cell in head)}</tr>"]
    for name, *numbers in rows:
        cells = "".join(f"<td>{number}</td>" for number in numbers)
        lines.append(f"<tr><th scope=row>{html.escape(name)}</th>{cells}</tr>")
    figures = (
        f'<div class="pst-scrollable-table-container" tabindex="0"><table class="table">{"".join(lines)}</table></div>'
    )
    for name in documents:
        page = Path(app.outdir, f"{name}.html")
        text = re.sub(_PLACE.format(".*?"), lambda _: _PLACE.format(figures), page.read_text("utf-8"), flags=re.DOTALL)
        page.write_text(text, "utf-8")


def main(built: str) -> None:
    """Prints the table."""
    for name, *numbers in table(Path(built)):
        cells = [number.rjust(len(head)) for number, head in zip(numbers, HEAD[1:], strict=True)]
        print("  ".join([name.ljust(72), *cells]))


if __name__ == "__main__":
    main(*sys.argv[1:])
