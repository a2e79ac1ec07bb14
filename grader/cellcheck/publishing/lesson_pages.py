"""A lesson's pages: the learner's notebook by part, the solution's outputs, and every answer behind a click."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from cellcheck.building import frame
from cellcheck.errors import GraderError
from cellcheck.learning.offers import Offer, OfferedExercise
from cellcheck.publishing.exercises import ExerciseAddress, Map
from cellcheck.publishing.figures import Figure, standing
from cellcheck.publishing.links import Links
from cellcheck.publishing.outputs import shown, shown_html
from cellcheck.publishing.parts import Part, Piece, parts, pieces, raised
from cellcheck.repository import Repository

WORDS_A_MINUTE = 200
HARDEST = 5
GUESSED = "I have a guess: show what happened"
_CLAIM = re.compile(r"[ \t]*<!-- claim: \w+ -->")
BADGE = frame.BADGE
GUESS = re.compile(r"^guess_\w+(?:, guess_\w+)* = None", re.MULTILINE)
"""A cell that asks for a guess, and then gives the answer."""
_HINT = re.compile(r"<summary>Hint (\d+)</summary>")
_SEEN = re.compile(r"\A\*\*What you should see\*\*\n\n(?:[-*] .*\n?(?:  .*\n?)*)+")
_RUN = "<summary>Open this once you have run the cell</summary>"
_RULE = re.compile(r"\n+---\s*\Z")
"""A line that sets a break off from what comes after it: on a page, that is nothing."""
_GAP = re.compile(r"^<br>\n+", re.MULTILINE)
_FOLD = "<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


@dataclass(frozen=True)
class Edition:
    """A lesson in one language."""

    folder: str
    """Where its pages stand in the site."""
    notebook: str
    """The learner's notebook, to be downloaded: its path, seen from the folder of its overview."""
    text: Callable[[NotebookNode], str] = lambda cell: str(cell.source)
    """What a cell of prose says in this language."""
    note: str = ""
    """What stands below the title; Markdown."""
    in_colab: str = ""
    """Where Colab opens the notebook."""
    in_browser: str = ""
    """Where it opens on this site, seen from the site's first page; empty where it doesn't."""
    in_browser_in_part: bool = False
    """Whether only a part of it does."""
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
    figures: tuple[Figure, ...] = ()

    def pages(self, lesson: str, edition: Edition) -> Iterator[tuple[str, NotebookNode]]:
        """The notebooks that Sphinx makes pages from, by their path in the site: the overview, and one for each part.

        Their pictures are written as files.

        Raises:
            GraderError: when the lesson has not been built.
        """
        if not self.repository.solution(lesson).is_file():
            raise GraderError(f"{lesson} has no solution to take outputs from: run cellcheck build {lesson[:2]} first.")
        solution = nbformat.read(self.repository.solution(lesson), as_version=4)
        released = nbformat.read(self.repository.notebook(lesson), as_version=4)
        blanks = {cell.id: cell.source for cell in released.cells}
        cells = _without_the_end(solution.cells)
        texts = [cell.source if cell.cell_type == "code" else edition.text(cell) for cell in cells]
        opening, *rest = parts(pieces(cells, texts))
        overview = _Page(self, lesson, edition, blanks, rest)
        yield overview.path, _notebook(solution, overview.overview(opening))
        for place, part in enumerate(rest):
            page = replace(overview, place=place)
            yield page.path, _notebook(solution, page.cells(part))


def part_of_each_heading(notebook: NotebookNode) -> dict[str, str]:
    """On which of a lesson's pages a heading stands: the page's name, below the lesson's; empty for its overview."""
    texts = [str(cell.source) for cell in notebook.cells]
    return {
        heading: part.name
        for part in parts(pieces(notebook.cells, texts))
        for piece in part.pieces
        if piece.cell.cell_type == "markdown"
        for heading in re.findall(r"^##+ (.+)$", piece.text, re.MULTILINE)
    }


@dataclass(frozen=True)
class _Page:
    """One page of a lesson: the overview, or the part at a place among the parts."""

    pages: LessonPages
    lesson: str
    edition: Edition
    blanks: dict[str, str]
    """What the learner's notebook has in each cell."""
    parts: list[Part]
    place: int | None = None

    @property
    def path(self) -> str:
        """Where it stands in the site."""
        part = "" if self.place is None else f"/{self.parts[self.place].name}"
        return f"{self.edition.folder}/{self.lesson}{part}.ipynb"

    @property
    def offer(self) -> Offer:
        return next(offer for offer in self.pages.offers if offer.name == self.lesson)

    def overview(self, opening: Part) -> Iterator[NotebookNode]:
        """The lesson's own page: what it asks, what it takes and gives, and the way to its parts."""
        for number, piece in enumerate(opening.pieces):
            text = self._text(piece)
            yield self._prose(piece, self._opened(text) if number == 0 else text)
        yield _markdown("\n\n".join(["## The parts of this lesson", self._contents(), self._after_the_lesson()]))
        names = "\n".join(f"{self.lesson}/{part.name}" for part in self.parts)
        yield _markdown(f"```{{toctree}}\n:hidden:\n\n{names}\n```")

    def _opened(self, text: str) -> str:
        """The first cell, with what the lesson takes and gives below its title."""
        title, rest = text.split("\n", 1)
        offer = self.offer
        title = title if self.edition.language else f"# {offer.heading}"
        reading = reading_minutes(self.pages.repository, self.lesson)
        facts = [
            f"**Time** {offer.head.time}; {reading} minutes of it are reading",
            f"**Exercises** {len(offer.exercises)}, worth {offer.points:g} points",
        ]
        foundations = offer.head.foundations(self._numbered)
        facts += [f"**Builds on** {foundations}"] if foundations else []
        later = [other.name for other in self.pages.offers if self.lesson in other.head.lessons]
        facts += [f"**Leads to** {', '.join(map(self._numbered, later))}"] if later else []
        badges = [f"[Begin]({self.lesson}/{self.parts[0].name}.ipynb)"] if self.parts else []
        badges += [f"[Open in Colab]({self.edition.in_colab})"] if self.edition.in_colab else []
        if self.edition.in_browser:  # not there yet when Sphinx looks for it
            badges.append(self._badge("Run in your browser"))
        badges += [f"[Download the notebook](path:/{self.edition.notebook})"]
        above = ["{.badges}\n" + " ".join(badges), self.edition.note, "{.facts}\n" + "\n".join(f"- {f}" for f in facts)]
        return "\n\n".join([title, *(part for part in above if part), rest.strip("\n")])

    def _contents(self) -> str:
        """The parts: how long each takes, and its exercises."""
        lines = ["{.parts}"]
        offered = {each.symbol: each for each in self.offer.exercises}
        for number, part in enumerate(self.parts, start=1):
            inside = [offered[symbol] for symbol in part.symbols]
            reading = max(1, round(part.words / WORDS_A_MINUTE))
            takes = f"{reading} min to read" + (f", {sum(e.minutes for e in inside)} min to do" if inside else "")
            lines.append(f"{number}. [{part.title}]({self.lesson}/{part.name}.ipynb) [{takes}]{{.takes}}")
            if inside:
                lines += ["", *(f"   - {self._place(e.symbol).link} {_chips(e)}" for e in inside), ""]
        return "\n".join(lines)

    def cells(self, part: Part) -> Iterator[NotebookNode]:
        """A part's page."""
        if part.gathered:
            yield _markdown(f"# {part.title}\n\n{self._crumbs()}")
        guessed = False
        for number, piece in enumerate(part.pieces):
            if piece.cell.cell_type == "code":
                guessed = GUESS.search(piece.text) is not None
                yield from self._code(piece)
                continue
            if piece.above is not None and _marks(piece.above).get("solution"):
                yield from self._figures(_marks(piece.above)["grade_id"], above=True)
            text = self._text(piece)
            if guessed:
                text = _SEEN.sub(lambda seen: _FOLD.format(summary="What you should see", text=seen[0]), text)
            if not part.gathered:
                text = raised(text) if number == 0 or not text.startswith("## ") else text
            if number == 0 and not part.gathered:
                title, _, rest = text.partition("\n")
                text = f"{title}\n\n{self._crumbs()}\n\n{rest.strip()}"
            if number == len(part.pieces) - 1:
                text = _RULE.sub("", text)
            yield self._prose(piece, text)
        assert self.place is not None
        if self.place == len(self.parts) - 1:
            yield _markdown(self._after_the_lesson())
        elif self.edition.language:  # no table of contents has it, so the theme knows no next page
            after = self.parts[self.place + 1]
            yield _markdown(f"**→** [{after.title}]({after.name}.ipynb)")

    def _crumbs(self) -> str:
        """The way back to the overview, and how far one has come."""
        assert self.place is not None
        crumbs = [self._link(self.offer, "Lesson {number} · {title}"), f"part {self.place + 1} of {len(self.parts)}"]
        crumbs += [f"[open in Colab]({self.edition.in_colab})"] if self.edition.in_colab else []
        crumbs += [self._badge("run in your browser")] if self.edition.in_browser else []
        return "{.crumbs}\n" + " · ".join(crumbs)

    def _badge(self, words: str) -> str:
        words += ", in part" if self.edition.in_browser_in_part else ""
        return f'<a href="{self._up}{self.edition.in_browser}">{words}</a>'

    def _prose(self, piece: Piece, text: str) -> NotebookNode:
        cell = _markdown(text)
        if self.edition.language and self.edition.text(piece.cell) != piece.cell.source:
            cell.metadata["language"] = self.edition.language
        return cell

    def _text(self, piece: Piece) -> str:
        """What a piece of prose says, with pictures from files and links to pages; an exercise's can be linked to."""
        text = piece.text
        for name, picture in piece.cell.get("attachments", {}).items():
            text = text.replace(f"(attachment:{name})", f"({self._file(picture['image/png'], 'png')})")
        text = _GAP.sub("", BADGE.sub("", _CLAIM.sub("", text))).replace(
            _RUN, "<summary>What came out, in words</summary>"
        )
        text = self.pages.links.resolved(text, self._written_in, self.path)
        if piece.above is not None and _marks(piece.above).get("solution"):
            text = self._task(_marks(piece.above)["grade_id"], text)
        return _FOLD.format(summary="Our answer", text=text) if _marks(piece.cell).get("solution") else text

    def _task(self, symbol: str, text: str) -> str:
        """An exercise's task: the heading is its name alone, what it takes stands below, and hints are counted."""
        place = self._place(symbol)
        symbols = [each.symbol for each in self.offer.exercises]
        counted = f"[Exercise {symbols.index(symbol) + 1} of {len(symbols)}]{{.which}}"
        chips = _chips(self.offer.exercises[symbols.index(symbol)], points=True)
        hints = len(_HINT.findall(text))
        text = _HINT.sub(rf"<summary>Hint \1 of {hints}</summary>", text)
        heading, _, task = text.partition("\n")
        level = re.match("#*", heading)
        assert level is not None
        return (
            f"({place.label})=\n{level[0] or '###'} `{symbol}`\n\n"
            f'<div class="exercise">\n\n{{.chips}}\n{counted} {chips}\n\n{task.strip()}'
        )

    @property
    def _written_in(self) -> Path:
        return self.pages.repository.notebook(self.lesson).relative_to(self.pages.repository.root)

    def _code(self, piece: Piece) -> Iterator[NotebookNode]:
        """The cells that a code cell becomes: an exercise is the blank to fill in, and our solution in a fold."""
        cell = piece.cell
        marks = _marks(cell)
        name = str(marks.get("grade_id", ""))
        outputs = [self._output(output) for each in cell.outputs if (output := shown(each)) is not None]
        if marks.get("solution"):
            yield _code(self.blanks[cell.id])
            yield _code(cell.source, outputs, folded=f"Our solution: {name}")
        elif name == "setup":
            yield _code(cell.source, outputs, folded="The set-up cell")
        else:
            yield _code(cell.source, outputs, answers=GUESS.search(cell.source) is not None)
        if marks.get("grade") and name.startswith("test_"):
            symbol = name.removeprefix("test_")
            yield _markdown(f"{self._from_here(self._place(symbol))}\n\n</div>")
            yield from self._figures(symbol, above=False)

    def _figures(self, symbol: str, above: bool) -> Iterator[NotebookNode]:
        yield from map(_markdown, standing(self.pages.figures, self.lesson, symbol, above))

    def _place(self, symbol: str) -> ExerciseAddress:
        return ExerciseAddress(self.lesson, symbol, self.edition.language)

    def _from_here(self, place: ExerciseAddress) -> str:
        answer = self.pages.map.exercise(place).references[0]
        sentence = f"In the library: {{py:obj}}`{place.symbol} <{answer.__module__}.{place.symbol}>`."
        needs = self.pages.map.needs(place)
        sentence += f" Our solution uses {', '.join(need.link for need in needs)}." if needs else ""
        after = self.pages.map.after(place)
        return f"{{.from-here}}\n{sentence}" + (f" Next exercise: {after.link}." if after else "")

    def _after_the_lesson(self) -> str:
        """The way to the next lesson."""
        rest = [later for offer, later in pairwise(self.pages.offers) if offer.name == self.lesson]
        if not rest:
            return f"**The end of the course.** [All lessons]({self._up}lessons/index.md)"
        return f"**The next lesson:** {self._link(rest[0])}"

    @property
    def _up(self) -> str:
        return "../" * self.path.count("/")

    def _link(self, offer: Offer, words: str = "lesson {number}, {title}") -> str:
        folder = self.edition.folder if offer.name == self.lesson else "lessons"
        label = words.format(number=offer.number, title=offer.title)
        return f"[{label}]({self._up}{folder}/{offer.name}.ipynb)"

    def _numbered(self, lesson: str) -> str:
        return f"[lesson {int(lesson.split('_')[0])}]({self._up}lessons/{lesson}.ipynb)"

    def _output(self, output: NotebookNode) -> NotebookNode:
        """An output; a picture becomes a file. Its title is its text alternative: all the rest unfolds below it."""
        data = output.get("data", {})
        for mime in ("image/png", "image/gif"):
            if mime in data:
                words = output.metadata.get(mime, {}).get("alt") or data["text/plain"]
                title = re.sub(r"([\[\]\\])", r"\\\1", str(words).splitlines()[0])
                picture = f"![{title} (in words below)]({self._file(data[mime], mime.removeprefix('image/'))})"
                return _shown("text/markdown", picture)
        if "text/html" in data:
            return _shown("text/html", shown_html(data["text/html"]))
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


def _chips(exercise: OfferedExercise, points: bool = False) -> str:
    """What an exercise is, in a few words each."""
    chips = [
        f"[{exercise.kind}]{{.chip .{exercise.kind}}}",
        f"[difficulty {exercise.difficulty} of {HARDEST}]{{.chip .difficulty-{exercise.difficulty}}}",
        f"[{exercise.minutes} minutes]{{.chip}}",
    ]
    if points:
        chips.append(f"[{exercise.points:g} point{'' if exercise.points == 1 else 's'}]{{.chip}}")
    return " ".join(chips)


def reading_minutes(repository: Repository, lesson: str) -> int:
    """How long it takes to read a lesson's prose, without any of the work."""
    cells = nbformat.read(repository.notebook(lesson), as_version=4).cells
    words = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    return max(1, round(words / WORDS_A_MINUTE))


def _marks(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def _without_the_end(cells: list[NotebookNode]) -> list[NotebookNode]:
    """A page can't be handed in."""
    return cells[:-2] if cells[-1].source == frame.SUBMIT else cells


def _notebook(like: NotebookNode, cells: Iterator[NotebookNode]) -> NotebookNode:
    notebook = nbformat.v4.new_notebook(metadata=dict(like.metadata))
    notebook.cells = list(cells)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def _markdown(text: str) -> NotebookNode:
    return NotebookNode(cell_type="markdown", metadata=NotebookNode(), source=text)


def _code(source: str, outputs: Sequence[NotebookNode] = (), folded: str = "", answers: bool = False) -> NotebookNode:
    """A code cell. (nbformat's own function validates each; they are validated once, when all are written.)

    What `answers` a guess stays folded until the reader has made one.
    """
    marks = NotebookNode()
    if folded or answers:
        kind, prompt = ("hide-input", folded) if folded else ("hide-output", GUESSED)
        marks.tags = [kind]
        marks.mystnb = {"code_prompt_show": prompt, "code_prompt_hide": prompt}
    return NotebookNode(cell_type="code", metadata=marks, source=source, outputs=list(outputs), execution_count=None)


def _shown(kind: str, text: str) -> NotebookNode:
    return NotebookNode(output_type="display_data", metadata=NotebookNode(), data=NotebookNode({kind: text}))
