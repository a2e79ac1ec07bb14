"""The course's glossary: the lessons' own glossaries in one, with links to where each word is at work."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docutils import nodes
from myst_parser.mdit_to_docutils.base import default_slugify
from nbformat import NotebookNode

from cellcheck.errors import GraderError
from cellcheck.learning.offers import Offer
from cellcheck.publishing.lesson_pages import part_of_each_heading

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_TABLE = re.compile(r"^## Glossary\n\n\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)", re.MULTILINE)
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_EXERCISE = re.compile(r"^Exercise: (`\w+`).*")
"""The heading of an exercise, which is its name alone on its page."""
_HEADING = re.compile(r"^(##+) (.+)$", re.MULTILINE)
_MARKS = re.compile(r"[*`$]")
PAGE = "lessons/glossary"
_PREFIX = "term-"
_SIGNS = "Signs and numbers"
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
    page: str
    """On which of the lesson's pages that is; empty for its overview."""

    @property
    def line(self) -> str:
        """The meaning, with a short link: the section's title is read when one points at it."""
        title = _EXERCISE.sub(r"\1", self.section)
        anchor = f"#{default_slugify(title)}" if title else ""
        pointed_at = " " + json.dumps(_MARKS.sub("", title), ensure_ascii=False) if title else ""
        page = f"{self.lesson.name}/{self.page}" if self.page else self.lesson.name
        return f"{_begun(self.meaning)} ([lesson {self.lesson.number}]({page}.ipynb{anchor}{pointed_at}))"


def glossary(lessons: Iterable[tuple[Offer, NotebookNode]]) -> str:
    """The page, in Markdown.

    Raises:
        GraderError: when a lesson has no glossary.
    """
    by_term: defaultdict[str, list[_Entry]] = defaultdict(list)
    for offer, notebook in lessons:
        for entry in _entries(offer, notebook):
            by_term[entry.word.lower()].append(entry)
    by_letter: defaultdict[str, list[list[_Entry]]] = defaultdict(list)
    for term in sorted(by_term, key=_sorted_as):
        by_letter[_letter(term)].append(by_term[term])
    bar = " ".join(f"[{letter}](#{_label(letter)})" for letter in by_letter)
    parts = [_HEAD, f"{{.letters}}\n{bar}"]
    for letter, terms in by_letter.items():
        parts.append(f"({_label(letter)})=\n## {letter}")
        for entries in terms:
            word = entries[0].word
            parts.append("\n".join([f"[{word}]{{#{identity(word)}}}", *(f": {entry.line}" for entry in entries)]))
    return "\n\n".join(parts) + "\n"


def words(lessons: Iterable[tuple[Offer, NotebookNode]]) -> dict[str, str]:
    """Where the glossary explains a word: the anchor of its entry, by the word in lower case."""
    anchors: dict[str, str] = {}
    for offer, notebook in lessons:
        for entry in _entries(offer, notebook):
            for part in (entry.word, *entry.word.split(",")):
                anchors.setdefault(_bare(part), identity(entry.word))
    return anchors


def identity(word: str) -> str:
    """The anchor of a word's entry.

    >>> identity("`BOS`, start token")
    'term-bos-start-token'
    """
    return _PREFIX + re.sub(r"[^a-z0-9]+", "-", _bare(word)).strip("-")


def link_words(app: Sphinx, doctree: nodes.document) -> None:
    """In a lesson, a word in bold leads to its entry, and so does each word of the lesson's own glossary."""
    name = app.env.docname
    if not name.startswith("lessons/") or name == PAGE:
        return
    anchors: dict[str, str] = getattr(app, "glossary_words", {})
    bold = list(doctree.findall(nodes.strong))
    entries = [row.children[0] for table in doctree.findall(nodes.tbody) for row in table.findall(nodes.row)]
    for place in [*bold, *(p for entry in entries for p in entry.findall(nodes.paragraph))]:
        anchor = anchors.get(_bare(place.astext()))
        if anchor is None or any(place.findall(nodes.reference)) or isinstance(place.parent, nodes.reference):
            continue
        uri = f"{'../' * (name.count('/') - 1)}glossary.html#{anchor}"
        link = nodes.reference("", "", *place.children, refuri=uri, internal=True, classes=["explained"])
        place.children = []
        place += link


def _begun(meaning: str) -> str:
    """As a sentence begins, unless it begins with a symbol.

    >>> _begun("a grid of yes and no")
    'A grid of yes and no'
    >>> _begun("x is added to what a layer makes of it")
    'x is added to what a layer makes of it'
    """
    first = re.split(r"\W", meaning, maxsplit=1)[0]
    return meaning[:1].upper() + meaning[1:] if first == "a" or len(first) > 1 else meaning


def _bare(word: str) -> str:
    """A word without marks, in lower case.

    >>> _bare(" **Byte pair** ")
    'byte pair'
    """
    return " ".join(_MARKS.sub("", word).lower().split())


def _sorted_as(term: str) -> str:
    return unicodedata.normalize("NFKD", _bare(term))


def _letter(term: str) -> str:
    first = _sorted_as(term)[:1].upper()
    return first if "A" <= first <= "Z" else _SIGNS


def _label(letter: str) -> str:
    return f"letter-{letter.split()[0].lower()}"


def _entries(offer: Offer, notebook: NotebookNode) -> Iterator[_Entry]:
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    table = _TABLE.search(prose)
    if table is None:
        raise GraderError(f"{offer.name} has no glossary: put a table under a heading ## Glossary.")
    opening, test, *rest = _sections(prose[: table.start()])
    pages = part_of_each_heading(notebook)
    for word, meaning in _ROW.findall(table[1]):
        section = _introduces(word, [*rest, test, opening])
        yield _Entry(word, meaning, offer, section, pages.get(section, ""))


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
