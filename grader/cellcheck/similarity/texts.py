"""What a learner wrote themselves: the cells of a notebook without the text that everybody was given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.running.assignment import Assignment
from cellcheck.running.handed_in import MAX_NOTEBOOKS, choose
from cellcheck.running.intake import Unreadable, read_file
from cellcheck.running.reading_apart import read_apart
from cellcheck.syllabus import load_lesson

ADDED = "cells of their own"
MAX_OWN = 200_000  # characters; an honest notebook has some 20,000
_BEGIN, _END = "BEGIN SOLUTION", "END SOLUTION"
_STUB = frozenset({"# YOUR CODE HERE", "raise NotImplementedError", "raise NotImplementedError()"})


@dataclass(frozen=True)
class Answer:
    """The text of a cell, and the same text with a space for every character that was given."""

    name: str
    shown: str
    own: str


@dataclass(frozen=True)
class Known:
    """What everybody may know: the lines that were given out, and the published answers, in which these are blank."""

    lines: frozenset[str]
    solutions: tuple[str, ...]
    names: frozenset[str]
    """The cells that learners write into."""


def known_text(
    notebooks: Iterable[Sequence[Mapping[str, Any]]], released: Iterable[Sequence[Mapping[str, Any]]] = ()
) -> Known:
    """What the source notebooks give away. Cells are those of `cellcheck.running.plain_cells.cells_of`.

    In what nbgrader released of them, every line is given: its stub may be the course's own.
    """
    lines, answers, names = set(_STUB), [], set()
    for cell in (cell for cells in notebooks for cell in cells if cell["kind"] == "code"):
        answer = bool((cell["marks"] or {}).get("solution"))
        given, rest = _parted(cell["source"], answer)
        lines |= {line.strip() for line in given}
        if answer:
            answers.append("\n".join(rest))
            names.add(str(cell["grade_id"]))
    lines |= {
        line.strip()
        for cells in released
        for cell in cells
        if cell["kind"] == "code"
        for line in cell["source"].splitlines()
    }
    # A line of a solution that is given out elsewhere is left out here as it is in what learners wrote: or else what
    # stands before it and after it would be one run there, and two here.
    known = Known(frozenset(lines), (), frozenset(names))
    return replace(known, solutions=tuple(as_answer("", answer, known).own for answer in answers))


def _parted(source: str, answer: bool) -> tuple[list[str], list[str]]:
    """The lines that are given out, and those of the solution."""
    lines = source.splitlines()
    if not answer:
        return lines, []
    if not any(_BEGIN in line for line in lines):  # nbgrader then puts its stub in place of the whole
        return [], lines
    given: list[str] = []
    solution: list[str] = []
    inside = False
    for line in lines:
        if _BEGIN in line or _END in line:
            inside = _BEGIN in line
        else:
            (solution if inside else given).append(line)
    return given, solution


def own_answers(notebooks: Iterable[Sequence[Mapping[str, Any]]], known: Known) -> tuple[Answer, ...]:
    """What a learner wrote, by the name of the cell; what they added comes last, in one.

    Raises:
        Unreadable: when it is more than anybody writes.
    """
    by_symbol: dict[str, list[str]] = {}
    for cell in (cell for cells in notebooks for cell in cells if cell["kind"] == "code" or cell["retyped"]):
        here = known.names & {cell["grade_id"], *cell["defines"]}
        name = cell["grade_id"] if cell["grade_id"] in here else min(here, default=ADDED)
        by_symbol.setdefault(name, []).append(cell["source"])
    texts = []
    for name, sources in sorted(by_symbol.items(), key=lambda item: item[0] == ADDED):
        answer = as_answer(name, "\n\n".join(sources), known)
        if answer.own.strip():
            texts.append(answer)
    if sum(len(answer.own) for answer in texts) > MAX_OWN:
        raise Unreadable("There is more code in it than anybody writes for one assignment.")
    return tuple(texts)


def as_answer(name: str, source: str, known: Known) -> Answer:
    """A cell's text, parted from what was given."""
    shown = "\n".join(source.splitlines()).strip("\n")
    lines = (" " * len(line) if line.strip() in known.lines else line for line in shown.split("\n"))
    return Answer(name, shown, "\n".join(lines))


def of_class(course: Course, name: str, *, plain: bool) -> tuple[dict[str, tuple[Answer, ...]], Known, list[str]]:
    """What everybody wrote, what everybody may know, and a line for each learner whose work can't be read.

    Raises:
        GraderError: when nobody handed anything in, or there is no source notebook.
    """
    sources = sorted(course.source(name).glob("*.ipynb"))
    if not sources:
        raise GraderError(
            f"There is no source notebook of {name} in {course.source(name)}, so nothing says what is given."
        )
    released = sorted(course.release(name).glob("*.ipynb"))
    known = known_text(
        (read_apart("cells", read_file(path)) for path in sources),
        (read_apart("cells", read_file(path)) for path in released),
    )
    lesson = None if plain else Assignment.of_lesson(load_lesson(name))
    written, unread = {}, []
    for student in course.students(name):
        folder = course.submission(student, name)
        try:
            written[student] = own_answers([read_apart("cells", read_file(p)) for p in _of(folder, lesson)], known)
        except GraderError as error:
            unread.append(f"{student} is left out: {error}")
    return written, known, unread


def _of(folder: Path, lesson: Assignment | None) -> list[Path]:
    """The notebooks that count: a lesson's, or all that were handed in."""
    if lesson is None:
        return sorted(folder.glob("*.ipynb"))[:MAX_NOTEBOOKS]
    return [folder if folder.is_symlink() else choose(folder, lesson)[0].get(lesson.name, folder)]
