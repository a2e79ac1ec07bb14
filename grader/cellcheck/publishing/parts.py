"""A lesson in parts: one page for each, so that nobody scrolls through a whole lesson."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

from nbformat import NotebookNode

SHORT = 120
"""A section of prose alone that has fewer words is no page of its own: it ends the one before."""
ENDING = "Looking back"
"""The page of what comes once a lesson's work is done."""
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A cell, or what of a cell of prose stands on one page."""

    cell: NotebookNode
    text: str
    above: NotebookNode | None = None
    """The code cell that it stands on, if it is the last piece of its cell: an exercise's task, or a question."""


@dataclass
class Part:
    """A page of a lesson: its title, and its pieces. The opening has no title, and stands on the lesson's own page."""

    title: str
    pieces: list[Piece] = field(default_factory=list)
    gathered: bool = False
    """Whether the sections on it keep their headings, below a title that is none of theirs."""

    @property
    def name(self) -> str:
        """What its page is called, as a file.

        >>> Part("Part 2 · Über Masken?").name
        'part-2-uber-masken'
        """
        plain = unicodedata.normalize("NFKD", self.title.lower()).encode("ascii", "ignore").decode()
        return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")

    @property
    def words(self) -> int:
        """How much there is to read."""
        return sum(len(piece.text.split()) for piece in self.pieces if piece.cell.cell_type == "markdown")

    @property
    def symbols(self) -> list[str]:
        """The exercises on it."""
        marks = [(piece.cell.cell_type, _marks(piece.cell)) for piece in self.pieces]
        return [mark["grade_id"] for kind, mark in marks if kind == "code" and mark.get("solution")]

    @property
    def _is_a_remark(self) -> bool:
        return self.words < SHORT and all(piece.cell.cell_type == "markdown" for piece in self.pieces)


def parts(pieces: Iterator[Piece]) -> list[Part]:
    """A lesson's opening, and its parts.

    A part begins at each heading of the second level. A few words, such as those at a break, belong to the part before,
    and all that comes from the question in one's own words on is one part. Two parts never have the same name.
    """
    sections = [Part("")]
    for piece in pieces:
        heading = _HEADING.match(piece.text) if piece.cell.cell_type == "markdown" else None
        if heading:
            sections.append(Part(heading[1].strip()))
        sections[-1].pieces.append(piece)
    opening, *rest = sections
    last = next((n for n, part in enumerate(rest) if any(map(_explains, part.pieces))), len(rest))
    pages: list[Part] = []
    for section in rest[:last]:
        if pages and section._is_a_remark:
            pages[-1].pieces += section.pieces
        else:
            pages.append(section)
    if rest[last:]:
        pages.append(Part(ENDING, [piece for section in rest[last:] for piece in section.pieces], gathered=True))
    for part in pages:
        alike = [other for other in pages if other.name == part.name]
        for number, other in enumerate(alike[1:], start=2):
            other.title += f" ({number})"
    return [opening, *pages]


def pieces(cells: list[NotebookNode], texts: list[str]) -> Iterator[Piece]:
    """The cells, those of prose with what each says, cut where a heading of the second level begins a part."""
    for cell, text, below in zip_longest(cells, texts, cells[1:]):
        if cell.cell_type == "code":
            yield Piece(cell, text)
            continue
        above = below if below is not None and below.cell_type == "code" else None
        *first, last = _cut(text)
        yield from (Piece(cell, each) for each in first)
        yield Piece(cell, last, above)


def _cut(text: str) -> list[str]:
    fences = [match.span() for match in _CODE.finditer(text)]
    starts = [
        match.start()
        for match in _HEADING.finditer(text)
        if not any(begin < match.start() < end for begin, end in fences)
    ]
    edges = [0, *(start for start in starts if start > 0), len(text)]
    return [text[begin:end].strip("\n") for begin, end in pairwise(edges)]


def raised(text: str) -> str:
    """Prose with its headings one level up: a section's heading becomes the title of a page.

    A comment in a block of code is no heading.

    >>> raised("## Part 1\\n\\n### First\\n\\n```python\\n## no\\n```")
    '# Part 1\\n\\n## First\\n\\n```python\\n## no\\n```'
    """
    edge = 0
    blocks = []
    for fence in [*_CODE.finditer(text), None]:
        prose = text[edge : fence.start() if fence else len(text)]
        blocks.append(re.sub(r"^#(#+ )", r"\1", prose, flags=re.MULTILINE))
        if fence:
            blocks.append(fence[0])
            edge = fence.end()
    return "".join(blocks)


def _explains(piece: Piece) -> bool:
    """Whether it is an answer in one's own words."""
    return piece.cell.cell_type == "markdown" and bool(_marks(piece.cell).get("solution"))


def _marks(cell: NotebookNode) -> NotebookNode:
    return cell.metadata.get("nbgrader", NotebookNode())
