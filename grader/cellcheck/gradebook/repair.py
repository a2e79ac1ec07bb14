"""A submitted notebook, made sound enough for nbgrader whatever state it is in.

The learner's text stays as it is, unless a page that shows it would run something; see `cellcheck.running.cleaning`.
"""

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import Cell, SourceCell, whole
from cellcheck.running.plain_cells import Unreadable
from cellcheck.running.reading_apart import read_apart

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_TAG = re.compile(r"[\w-]+")


def sound_notebook(data: bytes, assignment: Assignment, title: str) -> tuple[NotebookNode, frozenset[str]]:
    """The notebook with unique ids, valid cells, and the marks and locked texts that it was released with.

    Where a person grades something in it, it has what the learner's cells showed, too.

    Also gives the names of answers that may be in another cell.

    Raises:
        Unreadable: when it isn't a notebook at all.
    """
    source = assignment.notebooks[title]
    cells, _ = whole(map(Cell.of, read_apart("cells", data)), source, assignment.symbols(title))
    notebook = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": dict(KERNEL)}, "cells": []}
    )
    outputs: dict[str, list[Any]] = {}
    if any(cell.by_hand for cell in source.values()):
        with contextlib.suppress(Unreadable):  # it is too hard to read: its text isn't
            outputs = read_apart("outputs", data)
    notebook.cells = [
        _sound_cell(f"cell-{number}", cell, source.get(cell.grade_id or ""), outputs.get(str(cell.number), []))
        for number, cell in enumerate(cells)
    ]
    return notebook, frozenset(cell.grade_id for cell in cells if cell.lost and cell.grade_id is not None)


def _sound_cell(ident: str, cell: Cell, original: SourceCell | None, outputs: Sequence[Any]) -> NotebookNode:
    """A cell as `nbformat.v4` makes it, which would validate each by itself at ten times the cost.

    What a test shows is ours to say, and what a locked cell showed with another text is nothing that it shows.
    """
    fields: dict[str, Any] = {"cell_type": cell.kind, "id": ident, "metadata": {}, "source": cell.source}
    if cell.kind == "code":
        theirs = not (original is not None and original.is_test) and not (cell.released and cell.as_released is False)
        fields |= {"execution_count": None, "outputs": outputs if theirs else []}
    elif cell.pictures:
        fields["attachments"] = cell.pictures
    fields["metadata"]["tags"] = [tag for tag in cell.tags if _TAG.fullmatch(tag)]
    if original is not None and cell.grade_id is not None:
        fields["metadata"]["nbgrader"] = _marks(cell.grade_id, original)
    return nbformat.from_dict(fields)


def _marks(name: str, original: SourceCell) -> dict[str, Any]:
    """nbgrader's metadata of a cell, as it was released."""
    graded = original.points is not None
    marks = {
        "schema_version": 3,
        "grade_id": name,
        "cell_type": original.cell_type,
        "task": original.task,
        "locked": original.locked,
        "checksum": original.checksum,
        "grade": graded and not original.task,
        "solution": original.answer and not original.task,
    }
    return marks | ({"points": original.points} if graded else {})
