"""A lesson's page: the learner's notebook, the solution's outputs, and every answer behind a click."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.building import frame
from grader.errors import GraderError
from grader.learning.lessons import Offer
from grader.publishing.exercises import Map, Place
from grader.publishing.links import Links
from grader.repository import Repository

WORDS_A_MINUTE = 200
_CLAIM = re.compile(r"[ \t]*<!-- claim: \w+ -->")
BADGE = re.compile(r"^\[!\[Open in Colab\].*\n\n(?:Earlier lessons, in Colab: .*\n\n)?", re.MULTILINE)
"""What the build puts below a lesson's title: see `grader.building.frame`."""
_EXERCISE = re.compile(r"^### [^`\n]+: `(\w+)` ·", re.MULTILINE)  # "Exercise" may be translated
_FOLD = "<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


@dataclass(frozen=True)
class Edition:
    """A lesson in one language."""

    folder: str
    """Where its page stands in the site."""
    notebook: str
    """The learner's notebook, to be downloaded: its path, seen from the folder that Sphinx reads."""
    text: Callable[[NotebookNode], str] = lambda cell: str(cell.source)
    """What a cell of prose says in this language."""
    note: str = ""
    """What stands below the title; Markdown."""
    in_colab: str = ""
    """Where Colab opens the notebook."""
    language: str = ""
    """The language's code, if it isn't English."""


@dataclass(frozen=True)
class LessonPages:
    """Writes lessons as pages into the folder that Sphinx reads."""

    repository: Repository
    offers: tuple[Offer, ...]
    map: Map
    links: Links
    site: Path

    def page(self, lesson: str, edition: Edition) -> NotebookNode:
        """The notebook that Sphinx makes a page from; its pictures are written as files.

        Raises:
            GraderError: when the lesson has not been built.
        """
        if not self.repository.solution(lesson).is_file():
            raise GraderError(f"{lesson} has no solution to take outputs from: run grader build {lesson[:2]} first.")
        solution = nbformat.read(self.repository.solution(lesson), as_version=4)
        released = nbformat.read(self.repository.notebook(lesson), as_version=4)
        blanks = {cell.id: cell.source for cell in released.cells}
        made = nbformat.v4.new_notebook(metadata=solution.metadata)
        page = _Page(self, lesson, edition)
        for number, cell in enumerate(_without_the_end(solution.cells)):
            if cell.cell_type == "code":
                made.cells += page.code(cell, blanks[cell.id])
            else:
                text = page.prose(cell)
                own = _prose(page.opened(text) if number == 0 else text)
                if edition.text(cell) != cell.source:
                    own.metadata["language"] = edition.language
                made.cells.append(own)
        made.cells.append(_prose(page.ending()))
        for number, cell in enumerate(made.cells):
            cell.id = f"cell-{number}"
        return made


@dataclass(frozen=True)
class _Page:
    pages: LessonPages
    lesson: str
    edition: Edition

    @property
    def offer(self) -> Offer:
        return next(offer for offer in self.pages.offers if offer.name == self.lesson)

    def opened(self, text: str) -> str:
        """The first cell, with what the lesson takes and gives below its title."""
        title, rest = text.split("\n", 1)
        offer = self.offer
        facts = [
            f"**Time** {offer.time}; {reading_minutes(self.pages.repository, self.lesson)} minutes of it are reading",
            f"**Exercises** {len(offer.exercises)}, worth {offer.points:g} points",
        ]
        facts += [f"**Builds on** {self._linked(offer.builds_on)}"] if offer.builds_on else []
        later = [other for other in self.pages.offers if offer.number in _numbers(other.builds_on)]
        facts += (
            [f"**Leads to** {self._linked(', '.join(f'lesson {other.number}' for other in later))}"] if later else []
        )
        badges = [f"[Download the notebook](path:/{self.edition.notebook})"]
        badges += [f"[Open in Colab]({self.edition.in_colab})"] if self.edition.in_colab else []
        above = ["{.badges}\n" + " ".join(badges), self.edition.note, "{.facts}\n" + "\n".join(f"- {f}" for f in facts)]
        return "\n\n".join([title, *(part for part in above if part), rest.strip("\n")])

    def prose(self, cell: NotebookNode) -> str:
        """A prose cell, with pictures from files and links to pages."""
        text = self.edition.text(cell)
        for name, picture in cell.get("attachments", {}).items():
            text = text.replace(f"(attachment:{name})", f"({self._file(picture['image/png'], 'png')})")
        text = BADGE.sub("", _CLAIM.sub("", text))
        text = self.pages.links.resolved(text, self._written_in, f"{self.edition.folder}/{self.lesson}.ipynb")
        text = _EXERCISE.sub(lambda found: f"({self._place(found[1]).label})=\n{found[0]}", text)
        return _FOLD.format(summary="Our answer", text=text) if _marks(cell).get("solution") else text

    @property
    def _written_in(self) -> Path:
        return self.pages.repository.notebook(self.lesson).relative_to(self.pages.repository.root)

    def code(self, cell: NotebookNode, blank: str) -> Iterator[NotebookNode]:
        """The cells that a code cell becomes: an exercise is the blank to fill in, and our solution in a fold."""
        marks = _marks(cell)
        name = str(marks.get("grade_id", ""))
        outputs = [self._output(output) for output in cell.outputs]
        if marks.get("solution"):
            yield _code(blank)
            yield _code(cell.source, outputs, folded="Show our solution")
        elif name == "setup":
            yield _code(cell.source, outputs, folded="Show the set-up cell")
        else:
            yield _code(cell.source, outputs)
        if marks.get("grade") and name.startswith("test_"):
            yield _prose(self._from_here(self._place(name.removeprefix("test_"))))

    def _place(self, symbol: str) -> Place:
        return Place(self.lesson, symbol, self.edition.language)

    def _from_here(self, place: Place) -> str:
        answer = self.pages.map.exercise(place).references[0]
        said = f"In the library: {{py:obj}}`{place.symbol} <{answer.__module__}.{place.symbol}>`."
        needs = self.pages.map.needs(place)
        said += f" Our solution uses {', '.join(need.link for need in needs)}." if needs else ""
        after = self.pages.map.after(place)
        return f"{{.from-here}}\n{said}" + (f" Next exercise: {after.link}." if after else "")

    def ending(self) -> str:
        """The way to the next lesson."""
        names = [offer.name for offer in self.pages.offers]
        rest = self.pages.offers[names.index(self.lesson) + 1 :]
        if not rest:
            return f"**The end of the course.** [All lessons]({self._up}lessons/index.md)"
        return f"**Next:** {self._link(rest[0])}"

    @property
    def _up(self) -> str:
        return "../" * (self.edition.folder.count("/") + 1)

    def _link(self, offer: Offer) -> str:
        return f"[lesson {offer.number}, {offer.title}]({self._up}lessons/{offer.name}.ipynb)"

    def _linked(self, text: str) -> str:
        """A sentence with its lessons as links."""
        named = {offer.number: offer.name for offer in self.pages.offers}
        return re.sub(
            r"lesson (\d+)",
            lambda found: f"[{found[0]}]({self._up}lessons/{named[int(found[1])]}.ipynb)",
            text,
        )

    def _output(self, output: NotebookNode) -> NotebookNode:
        """An output; a picture becomes a file. Its title is its text alternative: all the rest unfolds below it."""
        data = output.get("data", {})
        for mime in ("image/png", "image/gif"):
            if mime in data:
                words = output.metadata.get(mime, {}).get("alt") or data["text/plain"]
                title = re.sub(r"([\[\]\\])", r"\\\1", str(words).splitlines()[0])
                shown = f"![{title} (in words below)]({self._file(data[mime], mime.removeprefix('image/'))})"
                return _shown("text/markdown", shown)
        if "text/html" in data:
            return _shown("text/html", data["text/html"])
        return output

    def _file(self, picture: str, kind: str) -> str:
        """Writes a picture, once; its address, seen from the page."""
        content = base64.b64decode(picture)
        name = f"{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
        path = self.pages.site / "lessons" / "pictures" / name
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return f"{self._up}lessons/pictures/{name}"


def reading_minutes(repository: Repository, lesson: str) -> int:
    """How long it takes to read a lesson's prose, without any of the work."""
    cells = nbformat.read(repository.notebook(lesson), as_version=4).cells
    words = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    return max(1, round(words / WORDS_A_MINUTE))


def _numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"lesson (\d+)", text)}


def _marks(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def _without_the_end(cells: list[NotebookNode]) -> list[NotebookNode]:
    """A page can't be handed in."""
    return cells[:-2] if cells[-1].source == frame.SUBMIT else cells


def _prose(text: str) -> NotebookNode:
    return NotebookNode(cell_type="markdown", metadata=NotebookNode(), source=text)


def _code(source: str, outputs: Sequence[NotebookNode] = (), folded: str = "") -> NotebookNode:
    """A code cell. (nbformat's own function validates each; they are validated once, when all are written.)"""
    marks = NotebookNode()
    if folded:
        marks.tags = ["hide-input"]
        marks.mystnb = {"code_prompt_show": folded, "code_prompt_hide": folded.replace("Show", "Hide")}
    return NotebookNode(cell_type="code", metadata=marks, source=source, outputs=list(outputs), execution_count=None)


def _shown(kind: str, text: str) -> NotebookNode:
    return NotebookNode(output_type="display_data", metadata=NotebookNode(), data=NotebookNode({kind: text}))
