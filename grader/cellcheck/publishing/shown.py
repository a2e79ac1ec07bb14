"""What an executed solution shows, for pages that aren't lessons: a picture, what a cell printed, a row of a table.

Each is found by its name or by how it begins. Nothing is drawn or executed, and what isn't there is an error.
"""

import base64
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import lxml.html
import nbformat
from nbformat import NotebookNode
from PIL import Image

from cellcheck.errors import GraderError
from cellcheck.repository import Repository

FOLDER = "lessons/shown"
"""Where the small pictures stand in the folder that Sphinx reads; they become static files."""
WIDTH, HEIGHT, COLOURS = 640, 520, 48
"""At most so large, and with so few colours: drawings lose nothing that one would see, and weigh a quarter."""


@dataclass(frozen=True)
class Picture:
    """A picture of an executed lesson."""

    name: str
    """What a text calls it: a function's name, or the title."""
    alt: str
    """What it shows, in words."""
    content: bytes
    """The PNG."""

    def small(self, site: Path) -> tuple[str, int, int]:
        """Writes it, smaller, for cards; its address among the static files, its width and its height."""
        name = f"{hashlib.sha256(self.content).hexdigest()[:16]}.png"
        path = site / FOLDER / "shown" / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with Image.open(io.BytesIO(self.content)) as picture:
                drawn = picture.convert("RGB")
            drawn.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
            drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)
        with Image.open(path) as picture:
            return f"_static/shown/{name}", *picture.size


def picture(repository: Repository, lesson: str, begins: str = "") -> Picture:
    """The lesson's first picture whose name or title begins so.

    Raises:
        GraderError: when there is none.
    """
    for candidate in _pictures(_solution(repository, lesson)):
        if candidate.name.startswith(begins):
            return candidate
    raise GraderError(f"No picture of {lesson} is called {begins!r}, or has a title that begins so.")


def printed(repository: Repository, lesson: str, begins: str) -> str:
    """What a cell of the lesson printed, from where it says `begins` at the beginning of a line.

    Raises:
        GraderError: when no cell printed that.
    """
    for output in _outputs(_solution(repository, lesson)):
        text = str(output.get("text", ""))
        start = re.search(rf"^ *{re.escape(begins)}", text, re.MULTILINE)
        if start:
            return text[start.start() :].rstrip()
    raise GraderError(f"No cell of {lesson} printed {begins!r}.")


def row(repository: Repository, lesson: str, entry: str) -> list[tuple[str, str]]:
    """The row of a table in which `entry` stands, with the column's heading before each entry.

    Raises:
        GraderError: when no table has it.
    """
    for output in _outputs(_solution(repository, lesson)):
        text = output.get("data", {}).get("text/html", "")
        if "<table" not in text:
            continue
        (table, *_) = lxml.html.fragment_fromstring(text, create_parent=True).iter("table")
        heads = [_said(cell) for cell in table.xpath(".//thead//th")]
        for line in table.xpath(".//tbody/tr"):
            entries = [_said(cell) for cell in line]
            if entry in entries:
                return [pair for pair in zip(heads[-len(entries) :], entries, strict=True) if pair[0]]
    raise GraderError(f"No table of {lesson} has a row with {entry!r}.")


def _said(cell: lxml.html.HtmlElement) -> str:
    return " ".join(cell.text_content().split())


def _solution(repository: Repository, lesson: str) -> NotebookNode:
    path = repository.solution(lesson)
    if not path.is_file():
        raise GraderError(f"{lesson} has no solution to take outputs from: run cellcheck build {lesson[:2]} first.")
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(path: Path, _changed: int) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def _outputs(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def _pictures(notebook: NotebookNode) -> Iterator[Picture]:
    for cell in notebook.cells:
        for name, data in cell.get("attachments", {}).items():
            alt = re.search(rf"!\[([^\]]*)\]\(attachment:{re.escape(name)}\)", cell.source)
            yield _picture(Path(name).stem, alt[1] if alt else "", data["image/png"])
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                words = str(output.metadata.get("image/png", {}).get("alt") or data.get("text/plain", ""))
                title = words.splitlines()[0] if words else ""
                yield _picture(title, title, data["image/png"])


def _picture(name: str, alt: str, content: str) -> Picture:
    return Picture(name, alt, base64.b64decode(content))
