"""Reading a submission: bytes become steps to take, whatever state the notebook is in.

Its metadata is a hint, never trusted: a symbol is found by its grade id, else by its definition.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from grader.authoring.spec import Lesson
from grader.errors import GraderError
from grader.syllabus import UnknownLesson, lesson_names, load_lesson

MAX_BYTES = 32 * 2**20

_LESSON = re.compile(r"\bchecks\(\s*[\"'](\w+)[\"']\s*\)")
_CHECK = re.compile(r"^\s*check\(\s*[\"']?(\w+)[\"']?\s*\)\s*;?\s*$")


class Unreadable(GraderError):
    """This file can't be graded; the message says why and what to do."""


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
        found = _CHECK.match(self.source)
        return found[1] if found else None


@dataclass(frozen=True)
class Submission:
    """What there is to do, in order: cells to run, and symbols (as text) to ask for."""

    lesson: Lesson
    steps: tuple[Cell | str, ...]
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
        size = path.stat().st_size // 2**20
        raise Unreadable(
            f"The notebook has {size} MB, and at most {MAX_BYTES // 2**20} MB are allowed. "
            "Clear all outputs, save it, and submit it again."
        )
    return path.read_bytes()


def read_submission(data: bytes, lesson: str | None = None) -> Submission:
    """The steps of a submission.

    Args:
        data: the notebook's bytes.
        lesson: its lesson, for a notebook that does not tell.

    Raises:
        Unreadable: when it is no notebook, or of no known lesson.
    """
    cells = _code_cells(parse(data))
    found, how = _find_lesson(cells, lesson)
    return _steps(found, cells, [how] if how else [])


def parse(data: bytes) -> list[Any]:
    """The notebook's cells, as they stand in the file.

    Raises:
        Unreadable: when it is no notebook.
    """
    if not data.strip():
        raise Unreadable("The file is empty. Save the notebook, and submit it again.")
    if data.startswith(b"PK"):
        raise Unreadable("This is a zip file, not a notebook: `grader collect FILE` takes the notebooks out of it.")
    if data.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise Unreadable("This is a web page, not a notebook: download the notebook itself as .ipynb, and submit that.")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError of its own
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(
            f"This is not a notebook: it is not valid JSON{where}. Download it again as .ipynb, and submit that."
        ) from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("This is not a notebook of Jupyter's format 4: it has no cells. Open and save it in Jupyter.")
    if not cells:
        raise Unreadable("The notebook has no cells. Was an empty one submitted by mistake?")
    return cells


def _code_cells(cells: list[Any]) -> list[Cell]:
    made = []
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        source, metadata = source_of(cell), cell.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        marks, tags = metadata.get("nbgrader"), metadata.get("tags")
        marks = marks if isinstance(marks, dict) else {}
        grade_id = marks.get("grade_id")
        retyped = cell.get("cell_type") != "code"
        if retyped and not (isinstance(grade_id, str) and marks.get("cell_type") == "code"):
            continue
        defines, only_definitions = _definitions(source)
        made.append(
            Cell(
                number=number,
                source=source,
                grade_id=grade_id if isinstance(grade_id, str) else None,
                experiment=isinstance(tags, list) and "experiment" in tags,
                defines=defines,
                only_definitions=only_definitions,
                points=marks.get("points"),
                retyped=retyped,
            )
        )
    return made


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text, which nbformat keeps as one string or as a list of lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _definitions(source: str) -> tuple[frozenset[str], bool]:
    """The names a cell defines at its top level, and whether it does nothing but import and define."""
    try:
        body = _parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # A cell that does not parse may still be somebody's attempt: go by its first words.
        return frozenset(re.findall(r"^(?:def|class)\s+(\w+)", source, re.MULTILINE)), False
    names: set[str] = set()
    only = True
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            only = False
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            only = False
    return frozenset(names), only


def _parse(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:  # magics and the like, which IPython turns into Python; that takes its time
        text: str = TransformerManager().transform_cell(source)
        return ast.parse(text)


def _find_lesson(cells: list[Cell], asked: str | None) -> tuple[Lesson, str | None]:
    for cell in cells:
        for name in _LESSON.findall(cell.source):
            try:
                return load_lesson(name), None
            except UnknownLesson:
                continue
    there = {name for cell in cells for name in (*cell.defines, cell.grade_id or "")}
    fits = {n: len(there & {e.symbol for e in load_lesson(n).exercises}) for n in lesson_names()}
    best = max(fits, key=lambda name: fits[name])
    if fits[best] * 2 >= len(load_lesson(best).exercises):
        return load_lesson(best), f"The set-up cell is missing; the symbols say that this is lesson {best}."
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


def _steps(lesson: Lesson, cells: list[Cell], repairs: list[str]) -> Submission:
    symbols = [exercise.symbol for exercise in lesson.exercises]
    stripped = not any(cell.grade_id for cell in cells)
    left_out = blank_copies(cells, symbols)
    runs = [c for c in cells if c not in left_out and _earns(c, symbols, stripped)]
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
    steps: list[tuple[int, int, Cell | str]] = [(cell.number, -1, cell) for cell in runs]
    steps += [(asked_after[symbol], place, symbol) for place, symbol in enumerate(symbols)]
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
        return ["The cells' metadata is gone; the exercises were found by their definitions."]
    found = [f"Cell {cell.number} was no code cell any more; it was run as one." for cell in cells if cell.retyped]
    ids = [cell.grade_id for cell in cells if cell.grade_id]
    for name in dict.fromkeys(ids):
        if ids.count(name) > 1:
            found.append(f"{ids.count(name)} cells are called {name}; the last attempt counts.")
    found += [f"Cell {cell.number} is a blank copy; it was left out." for cell in left_out]
    for exercise in lesson.exercises:
        symbol = exercise.symbol
        checks = [cell for cell in cells if cell.grade_id == f"test_{symbol}"]
        if symbol not in ids and any(symbol in cell.defines for cell in cells):
            found.append(f"The cell of {symbol} had lost its mark; it was found by its definition.")
        if not checks:
            found.append(
                f"The check of {symbol} had been deleted or had lost its mark; {symbol} was graded all the same."
            )
        elif any(cell.source.strip() != f"check({symbol})" for cell in checks):
            found.append(f"The check of {symbol} had been changed; the lesson's own was used.")
        if any(cell.points != exercise.points for cell in checks):
            found.append(f"The points of {symbol} had been changed in the notebook; the lesson's own count.")
    return found
