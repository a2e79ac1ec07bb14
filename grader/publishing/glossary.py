"""The course's glossary: the lessons' own glossaries in one, with links to where each word is at work."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from myst_parser.mdit_to_docutils.base import default_slugify
from nbformat import NotebookNode

from grader.errors import GraderError
from grader.learning.lessons import Offer

_TABLE = re.compile(r"^## Glossary\n\n\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
_HEAD = """\
# Glossary

Every word that a lesson explains, as that lesson explains it. Where two lessons show different sides of a word, both
are here. Each link leads to the place where the lesson introduces it.
"""


@dataclass(frozen=True)
class _Entry:
    word: str
    meaning: str
    lesson: Offer
    section: str
    """The heading above its first use; empty where that is the lesson's opening."""

    @property
    def line(self) -> str:
        anchor = f"#{default_slugify(self.section)}" if self.section else ""
        title = re.sub(r"^Exercise: (`\w+`).*", r"\1", self.section)
        where = f": {title}" if title else ""
        return f"{self.meaning} ([lesson {self.lesson.number}{where}]({self.lesson.name}.ipynb{anchor}))"


def glossary(lessons: Iterable[tuple[Offer, NotebookNode]]) -> str:
    """The page, in Markdown.

    Raises:
        GraderError: when a lesson has no glossary.
    """
    found: defaultdict[str, list[_Entry]] = defaultdict(list)
    for offer, notebook in lessons:
        for entry in _entries(offer, notebook):
            found[entry.word.lower()].append(entry)
    parts = [_HEAD]
    for _, entries in sorted(found.items()):
        parts.append("\n".join([entries[0].word, *(f": {entry.line}" for entry in entries)]))
    return "\n\n".join(parts) + "\n"


def _entries(offer: Offer, notebook: NotebookNode) -> Iterator[_Entry]:
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    table = _TABLE.search(prose)
    if table is None:
        raise GraderError(f"{offer.name} has no glossary: put a table under a heading ## Glossary.")
    opening, test, *rest = _sections(prose[: table.start()])
    for word, meaning in _ROW.findall(table[1]):
        yield _Entry(word, meaning, offer, _introduces(word, [*rest, test, opening]))


def _introduces(word: str, sections: list[tuple[str, str]]) -> str:
    """The heading above the word in bold, as it is where it is introduced; else above its first use."""
    first = re.escape(word.split(",")[0].strip("`"))
    for pattern in (rf"\*\*{first}", rf"\b{first}"):
        for title, text in sections:
            if re.search(pattern, f"{title}\n{text}", re.IGNORECASE):
                return title
    return "Glossary"


def _sections(prose: str) -> list[tuple[str, str]]:
    """Headings, and the text below each: the lesson's opening, which has none, its test of what you know, the rest."""
    parts = _HEADING.split(prose)
    return [("", parts[0]), *zip((title.strip() for title in parts[2::3]), parts[3::3], strict=True)]
