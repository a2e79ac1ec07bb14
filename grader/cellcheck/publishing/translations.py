"""Lessons in other languages: a gettext catalogue for each lesson and language, one message for each cell of prose.

A message's context is the id of its cell, which stays the same from build to build.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from docutils import nodes
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from cellcheck.publishing.lesson_pages import BADGE

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOCALE = "locale"
FOLDER = "notebooks"
LINES_A_CELL = 10_000
"""MyST-NB numbers a notebook's lines so: cell 2 begins at 20,000."""


@dataclass(frozen=True)
class Translation:
    """One lesson in one language, as far as it has been translated."""

    code: str
    """The language: "de"."""
    path: Path

    @cached_property
    def catalogue(self) -> Catalog:
        """All messages, the untranslated ones included."""
        with self.path.open("rb") as file:
            return read_po(file, locale=self.code)

    @property
    def language(self) -> str:
        """The language's own name for itself: "Deutsch"."""
        return str(Locale.parse(self.code).get_display_name()).capitalize()

    @property
    def so_far(self) -> str:
        """How much of it is there."""
        messages = [message for message in self.catalogue if message.id]
        done = sum(bool(message.string) and not message.fuzzy for message in messages)
        return f"{done} of {len(messages)} cells are translated."

    def is_whole(self, released: NotebookNode) -> bool:
        """Whether all of a lesson's prose, as it is now, is translated."""
        return all(self._translated(cell) for cell in released.cells if cell.cell_type == "markdown" and cell.source)

    def _translated(self, cell: NotebookNode) -> Message | None:
        message = self.catalogue.get(_message(cell), context=cell.id)
        return message if message and message.string and not message.fuzzy else None

    def text(self, cell: NotebookNode) -> str:
        """What a cell says; a cell that is not translated, or has changed since, says it in English."""
        message = self._translated(cell)
        if message is None:
            return str(cell.source)
        badge = BADGE.search(cell.source)
        return f"{message.string}\n\n{badge[0].rstrip()}" if badge else str(message.string)

    def notebook(self, released: NotebookNode) -> NotebookNode:
        """The learner's notebook in this language: prose alone differs, so it is handed in and graded as any other."""
        translated = copy.deepcopy(released)
        for cell in translated.cells:
            if cell.cell_type == "markdown":
                cell.source = self.text(cell)
                marks = cell.metadata.get("nbgrader", {})
                if "checksum" in marks:
                    marks.checksum = compute_checksum(cell)
        return translated


def mark_language(app: Sphinx, doctree: nodes.document) -> None:
    """A screen reader should know what is not in English: docutils makes an attribute of such a class."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text("utf-8"))["cells"]
    spoken = {number: cell["metadata"].get("language") for number, cell in enumerate(cells, start=1)}
    for node in doctree.findall(lambda node: isinstance(node, nodes.paragraph | nodes.title)):
        language = spoken.get((node.line or 0) // LINES_A_CELL)
        if language:
            node["classes"].append(f"language-{language}")


def translations(site: Path, lesson: str) -> list[Translation]:
    """What stands in the site's folder of catalogues for a lesson."""
    files = sorted((site / LOCALE).glob(f"*/{FOLDER}/{lesson}.po"))
    return [Translation(path.parts[-3], path) for path in files]


def template(released: NotebookNode, title: str) -> Catalog:
    """The messages of a lesson: the prose of the learner's notebook, in its order."""
    catalog = Catalog(project=title, fuzzy=False)
    for cell in released.cells:
        if cell.cell_type == "markdown" and cell.source:
            catalog.add(_message(cell), context=cell.id)
    return catalog


def _message(cell: NotebookNode) -> str:
    """A cell's text without the badge, which is another one in each version of the course."""
    return BADGE.sub("", cell.source)


def write_template(path: Path, released: NotebookNode, title: str) -> None:
    """Writes a lesson's messages, for `msginit`, `pybabel` and translators' tools to start from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, template(released, title), width=0, omit_header=False)
