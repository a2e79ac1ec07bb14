"""A submitted notebook, made sound enough for nbgrader whatever state it is in.

The learner's text stays as it is, unless a page that shows it would run something; see `cellcheck.running.cleaning`.
"""

import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import Cell, SourceCell, whole
from cellcheck.running.reading_apart import read_apart

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_TAG = re.compile(r"[\w-]+")


def sound_notebook(data: bytes, assignment: Assignment, title: str) -> tuple[NotebookNode, frozenset[str]]:
    """The notebook with unique ids, valid cells, and the marks and locked texts that it was released with.

    Also gives the names of answers that may be in another cell.

    Raises:
        Unreadable: when it isn't a notebook at all.
    """
    source = assignment.notebooks[title]
    cells, _ = whole(map(Cell.of, read_apart("cells", data)), source, assignment.symbols(title))
    notebook = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": dict(KERNEL)}, "cells": []}
    )
    notebook.cells = [
        _sound_cell(f"cell-{number}", cell, source.get(cell.grade_id or "")) for number, cell in enumerate(cells)
    ]
    return notebook, frozenset(cell.grade_id for cell in cells if cell.lost and cell.grade_id is not None)


def _sound_cell(ident: str, cell: Cell, known: SourceCell | None) -> NotebookNode:
    """A cell as `nbformat.v4` makes it, which would validate each by itself at ten times the cost."""
    fields: dict[str, Any] = {"cell_type": cell.kind, "id": ident, "metadata": {}, "source": cell.source}
    if cell.kind == "code":
        fields |= {"execution_count": None, "outputs": []}
    elif cell.pictures:
        fields["attachments"] = cell.pictures
    fields["metadata"]["tags"] = [tag for tag in cell.tags if _TAG.fullmatch(tag)]
    if known is not None and cell.grade_id is not None:
        fields["metadata"]["nbgrader"] = _marks(cell.grade_id, known)
    return nbformat.from_dict(fields)


def _marks(name: str, known: SourceCell) -> dict[str, Any]:
    """nbgrader's metadata of a cell, as it was released."""
    graded = known.points is not None
    marks = {
        "schema_version": 3,
        "grade_id": name,
        "cell_type": known.cell_type,
        "task": known.task,
        "locked": known.locked,
        "checksum": known.checksum,
        "grade": graded and not known.task,
        "solution": known.answer and not known.task,
    }
    return marks | ({"points": known.points} if graded else {})
