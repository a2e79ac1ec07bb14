"""A submitted notebook, made sound enough for nbgrader whatever state it is in.

The learner's text stays as it is, unless a page that shows it would run something; see `grader.running.cleaning`.
"""

from __future__ import annotations

import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.authoring.spec import Lesson
from grader.running.assignment import Cells, SourceCell, whole
from grader.running.reader import read_apart

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_TAG = re.compile(r"[\w-]+")


def sound_notebook(data: bytes, lesson: Lesson) -> NotebookNode:
    """The notebook with unique ids, valid cells, and its exercises' marks in place.

    Raises:
        Unreadable: when it isn't a notebook at all.
    """
    marks = _lesson_marks(lesson)
    made = _made([_sound_cell(cell, marks) for cell in read_apart("cells", data)])
    _find_lost(made, lesson, marks)
    _drop_doubles(made)
    return _numbered(made)


def sound_plain(data: bytes, source: Cells) -> tuple[NotebookNode, frozenset[str]]:
    """The same for a notebook that isn't a lesson's, and the names of answers that may be in another cell.

    Raises:
        Unreadable: when it isn't a notebook at all.
    """
    cells, _ = whole(read_apart("cells", data), source)
    marks = {name: _source_marks(name, cell) for name, cell in source.items()}
    lost = frozenset(cell["grade_id"] for cell in cells if cell["lost"])
    return _numbered(_made([_sound_cell(cell, marks) for cell in cells])), lost


def _made(cells: list[NotebookNode]) -> NotebookNode:
    made = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": dict(KERNEL)}, "cells": []}
    )
    made.cells = cells
    return made


def _numbered(notebook: NotebookNode) -> NotebookNode:
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def _source_marks(name: str, cell: SourceCell) -> dict[str, Any]:
    """nbgrader's metadata of a cell, as far as `Writer` does not set it for cells of every kind."""
    marks = {"schema_version": 3, "grade_id": name, "cell_type": cell.cell_type, "task": cell.task}
    return marks | {"grade": False, "locked": cell.locked, "solution": cell.answer and not cell.task}


def _lesson_marks(lesson: Lesson) -> dict[str, dict[str, Any]]:
    """nbgrader's metadata of each exercise's two cells: what it was when the lesson was released."""
    common = {"schema_version": 3, "task": False, "cell_type": "code"}
    marks: dict[str, dict[str, Any]] = {}
    for exercise in lesson.exercises:
        answer = {"grade": False, "grade_id": exercise.symbol, "locked": False, "solution": True}
        test = {"grade": True, "grade_id": f"test_{exercise.symbol}", "locked": True, "solution": False}
        marks[exercise.symbol] = {**common, **answer}
        marks[f"test_{exercise.symbol}"] = {**common, **test, "points": exercise.points}
    return marks


def _sound_cell(cell: dict[str, Any], marks: dict[str, dict[str, Any]]) -> NotebookNode:
    known = marks.get(cell["grade_id"] or "")
    made = _cell(known["cell_type"] if known else cell["kind"], cell["source"])
    if cell["pictures"] and made.cell_type != "code":
        made.attachments = cell["pictures"]
    made.metadata["tags"] = [tag for tag in cell["tags"] if _TAG.fullmatch(tag)]
    if known or cell["marks"]:
        made.metadata["nbgrader"] = dict(known or cell["marks"])
    return made


def _cell(kind: str, source: str) -> NotebookNode:
    """A cell as `nbformat.v4` makes it, which would validate each by itself at ten times the cost."""
    made: dict[str, Any] = {"cell_type": kind, "id": "", "metadata": {}, "source": source}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return nbformat.from_dict(made)


def _find_lost(notebook: NotebookNode, lesson: Lesson, marks: dict[str, dict[str, Any]]) -> None:
    """Marks cells that lost their mark: the last definition of a symbol, and its check. A lost check is put back."""
    there = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells}
    for exercise in lesson.exercises:
        symbol = re.escape(exercise.symbol)
        for grade_id, pattern in (
            (exercise.symbol, rf"^(?:def|class)[ \t]+{symbol}\b|^{symbol}[ \t]*="),
            (f"test_{exercise.symbol}", rf"\A\s*check\(\s*{symbol}\s*\)\s*\Z"),
        ):
            fits = [
                cell
                for cell in notebook.cells
                if cell.cell_type == "code"
                and "nbgrader" not in cell.metadata
                and re.search(pattern, cell.source, re.MULTILINE)
            ]
            if grade_id not in there and fits:
                fits[-1].metadata["nbgrader"] = dict(marks[grade_id])
            elif grade_id not in there and grade_id.startswith("test_"):
                lost = _cell("code", f"check({exercise.symbol})")
                lost.metadata["nbgrader"] = dict(marks[grade_id])
                notebook.cells.append(lost)


def _drop_doubles(notebook: NotebookNode) -> None:
    """Keeps the last cell of each grade id marked, as nbgrader does."""
    seen: set[str] = set()
    for cell in reversed(notebook.cells):
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in seen:
            del cell.metadata["nbgrader"]
        elif grade_id is not None:
            seen.add(grade_id)
