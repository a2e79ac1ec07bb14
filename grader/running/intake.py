"""Understanding a submission: plain cells become steps to take, whatever state the notebook is in.

Its metadata is a hint, never trusted: a symbol is found by its grade id, else by its definition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.authoring.spec import Lesson
from grader.checking.cards import points
from grader.plain import harmless
from grader.running.reader import read_apart
from grader.running.reading import MAX_BYTES as MAX_BYTES
from grader.running.reading import Unreadable as Unreadable
from grader.running.reading import too_large
from grader.running.result import OwnTest
from grader.syllabus import UnknownLesson, load_lesson, usable_lessons

_LESSON = re.compile(r"\bchecks\(\s*[\"'](\w+)[\"']\s*\)")
_CHECK = re.compile(r"check\(\s*[\"']?(\w+)[\"']?\s*\)\s*;?")
MAX_REPAIRS = 50  # sentences


@dataclass(frozen=True)
class Cell:
    """A code cell of the submission. `number` counts all cells from 1, as a reader would."""

    number: int
    source: str
    grade_id: str | None
    experiment: bool
    defines: frozenset[str]
    only_definitions: bool
    points: Any = None
    retyped: bool = False

    @property
    def blank(self) -> bool:
        """Whether nothing was written here yet: the released stub, as it was."""
        return "# YOUR CODE HERE" in self.source and "raise NotImplementedError" in self.source

    @property
    def asks(self) -> str | None:
        """The symbol that this cell checks, if it is a check cell and nothing more."""
        if self.grade_id and self.grade_id.startswith("test_"):
            return self.grade_id.removeprefix("test_")
        found = _CHECK.fullmatch(self.source.strip())
        return found[1] if found else None


@dataclass(frozen=True)
class Submission:
    """What there is to do, in order: cells to run, symbols (as text) to ask for, and an instructor's own tests."""

    lesson: Lesson
    steps: tuple[Cell | str | OwnTest, ...]
    repairs: tuple[str, ...] = field(default=())


def read_file(path: Path) -> bytes:
    """A submission's bytes.

    Raises:
        Unreadable: for a link, a folder, a missing or an enormous file, and for one that may not be read.
    """
    try:
        return _read(path)
    except OSError as error:
        raise Unreadable(f"The file can't be read: {error.strerror}.") from error


def _read(path: Path) -> bytes:
    if path.is_symlink():
        raise Unreadable("This is a link, not a file. Ask for the notebook itself.")
    if not path.is_file():
        raise Unreadable("There is no such file." if not path.exists() else "This is not a file.")
    if path.stat().st_size > MAX_BYTES:
        raise Unreadable(too_large(path.stat().st_size))
    return path.read_bytes()


def read_submission(data: bytes, lesson: str | None = None, own_tests: Iterable[OwnTest] = ()) -> Submission:
    """The steps of a submission.

    Args:
        data: the notebook's bytes.
        lesson: its lesson, for a notebook that does not tell.
        own_tests: an instructor's test cells that aren't checks.

    Raises:
        Unreadable: when it isn't a notebook, or isn't one of a known lesson.
    """
    return understood(read_apart("cells", data), lesson, own_tests)


def understood(
    cells: Iterable[dict[str, Any]], lesson: str | None = None, own_tests: Iterable[OwnTest] = ()
) -> Submission:
    """As `read_submission`, of cells that have been read already (see `grader.running.reading.cells_of`)."""
    code = [_code_cell(cell) for cell in cells if cell["kind"] == "code" or cell["retyped"]]
    found, how = _find_lesson(code, lesson)
    return _steps(found, code, [how] if how else [], list(own_tests))


def _code_cell(cell: dict[str, Any]) -> Cell:
    return Cell(
        number=cell["number"],
        source=cell["source"],
        grade_id=cell["grade_id"],
        experiment="experiment" in cell["tags"],
        defines=frozenset(cell["defines"]),
        only_definitions=cell["only_definitions"],
        points=cell["points"],
        retyped=cell["retyped"],
    )


def _find_lesson(cells: list[Cell], asked: str | None) -> tuple[Lesson, str | None]:
    for cell in cells:
        for name in _LESSON.findall(cell.source):
            try:
                return load_lesson(name), None
            except UnknownLesson:
                continue
    there = {name for cell in cells for name in (*cell.defines, cell.grade_id or "")}
    lessons, _ = usable_lessons()
    fits = {n: len(there & {e.symbol for e in lesson.exercises}) for n, lesson in lessons.items()}
    best = max(fits, key=lambda name: fits[name])
    if fits[best] * 2 >= len(lessons[best].exercises):
        return lessons[best], f"The set-up cell is missing; the symbols say that this is lesson {best}."
    if asked is not None:
        try:
            lesson = load_lesson(asked)
        except UnknownLesson as error:
            raise Unreadable(str(error)) from error
        if fits[lesson.name]:
            return lesson, None
        raise Unreadable(f"None of the exercises of {lesson.name} is in this notebook. Is it the right file?")
    raise Unreadable(
        "No lesson of this course fits this notebook. Is it the right file? If it is, name the lesson with --lesson."
    )


def _steps(lesson: Lesson, cells: list[Cell], repairs: list[str], own_tests: list[OwnTest]) -> Submission:
    symbols = [exercise.symbol for exercise in lesson.exercises]
    own = {test.name for test in own_tests}
    places = {cell.grade_id: cell.number for cell in cells if cell.grade_id in own}  # the last of that name
    stripped = not any(cell.grade_id for cell in cells)
    left_out = blank_copies(cells, symbols)
    numbers_left_out = {cell.number for cell in left_out}
    runs = [
        c for c in cells if c.number not in numbers_left_out and c.grade_id not in own and _earns(c, symbols, stripped)
    ]
    asked_after: dict[str, int] = {}
    for symbol in symbols:
        checks = [c.number for c in cells if c.grade_id == f"test_{symbol}"] or [
            c.number for c in cells if c.asks == symbol
        ]
        written = [c.number for c in runs if c.grade_id == symbol or symbol in c.defines]
        named = [c.number for c in runs if symbol in c.source]
        # A symbol that is nowhere is asked for in its turn, so that what follows is not kept waiting for its text.
        last = len(cells) + 1 if named else max(asked_after.values(), default=0)
        asked_after[symbol] = max([*checks[-1:], *written[-1:]], default=last)
    steps: list[tuple[int, int, Cell | str | OwnTest]] = [(cell.number, -1, cell) for cell in runs]
    steps += [(asked_after[symbol], place, symbol) for place, symbol in enumerate(symbols)]
    end = max((cell.number for cell in cells), default=0) + 1
    steps += [(places.get(test.name, end), len(symbols), test) for test in own_tests]
    ordered = sorted(steps, key=lambda step: step[:2])
    repairs += find_repairs(lesson, cells, left_out)
    return Submission(lesson, tuple(step for *_, step in ordered), tuple(repairs))


def _earns(cell: Cell, symbols: list[str], stripped: bool) -> bool:
    """Whether a cell is run for a mark: not a check, not an experiment."""
    if not cell.source.strip() or cell.asks in symbols:
        return False
    if cell.grade_id in symbols or _LESSON.search(cell.source) is not None:
        return True
    if stripped:
        return cell.only_definitions or bool(cell.defines & set(symbols))
    return not cell.experiment


def blank_copies(cells: list[Cell], symbols: list[str]) -> list[Cell]:
    """Cells that hold a symbol's blank while another cell holds an attempt at it: a copy left behind by mistake."""
    found = []
    for symbol in symbols:
        having = [cell for cell in cells if symbol in cell.defines]
        blank = [cell for cell in having if cell.blank]
        if len(blank) < len(having):
            found += blank
    return found


def find_repairs(lesson: Lesson, cells: list[Cell], left_out: list[Cell]) -> list[str]:
    """What was put right, a sentence each. None of it lowers a mark."""
    if not any(cell.grade_id for cell in cells):
        return ["The notebook had lost its cell metadata, so the exercises were found by name."]
    found = [f"Cell {cell.number} was no longer a code cell; it was run as one." for cell in cells if cell.retyped]
    ids = Counter(cell.grade_id for cell in cells if cell.grade_id)
    twice = [(harmless(name), count) for name, count in ids.items() if count > 1]
    found += [f"{count} cells are called {name}; the last attempt counts." for name, count in twice]
    found += [f"Cell {cell.number} is a blank copy; it was left out." for cell in left_out]
    for exercise in lesson.exercises:
        symbol = exercise.symbol
        checks = [cell for cell in cells if cell.grade_id == f"test_{symbol}"]
        if symbol not in ids and any(symbol in cell.defines for cell in cells):
            found.append(f"The cell of {symbol} had lost its mark; it was found by its definition.")
        if not checks:
            found.append(f"The check of {symbol} had been deleted or had lost its mark; {symbol} was graded anyway.")
        elif any(cell.source.strip() != f"check({symbol})" for cell in checks):
            found.append(f"The check of {symbol} had been changed; the lesson's own was used.")
        if any(cell.points != exercise.points for cell in checks):  # an instructor may have changed them since
            worth = points(exercise.points)
            found.append(f"The points of {symbol} in this notebook are not the current ones: it is worth {worth}.")
    if len(found) > MAX_REPAIRS:
        found[MAX_REPAIRS:] = [f"{len(found) - MAX_REPAIRS} more things were fixed."]
    return found
