"""An instructor's source notebooks: whether nbgrader can make an assignment of them.

It stops at much that may stand in one with a traceback, or a riddle. Here a sentence names the notebook and the cell.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.nbgraderformat import SCHEMA_VERSION

from cellcheck.errors import GraderError

_OTTERS = ("# BEGIN QUESTION", "# ASSIGNMENT CONFIG", "# BEGIN PROMPT")
"""How Otter-Grader's raw cells begin."""

_MARKS = ("grade", "solution", "locked", "task")
"""What nbgrader's metadata can say of a cell."""


def parsed(path: Path) -> dict[str, Any]:
    """A notebook as it stands in its file; empty where it is none: whoever generates the assignment says why."""
    try:
        notebook = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return notebook if isinstance(notebook, dict) else {}


def insist_on_shape(path: Path, notebook: Mapping[str, Any]) -> None:
    """Makes sure that a notebook's cells have the form that Jupyter gives them.

    Raises:
        GraderError: when one has not.
    """
    cells = notebook["cells"]
    if not isinstance(cells, list):
        raise GraderError(f"{path} is damaged: it has no list of cells. Put an older version of it in its place.")
    for number, cell in enumerate(cells, start=1):
        if what := _misshapen(cell):
            raise GraderError(
                f"{path}: cell {number} is damaged: {what}. Put an older version in its place, or delete that cell in "
                "a text editor."
            )


def _misshapen(cell: Any) -> str:
    """What is wrong with a cell's form; "" where nothing is."""
    if not isinstance(cell, dict):
        return "it isn't a dictionary"
    if cell.get("cell_type") not in ("code", "markdown", "raw"):
        return "its cell_type is neither code nor markdown nor raw"
    if not _is_text(cell.get("source")):
        return "its source isn't text"
    metadata = cell.get("metadata")
    if not isinstance(metadata, dict):
        return "its metadata aren't a dictionary"
    if not isinstance(metadata.get("tags", []), list):
        return "its tags aren't a list"
    marks = metadata.get("nbgrader", {})
    if not isinstance(marks, dict):
        return "what its metadata say about nbgrader isn't a dictionary"
    if not isinstance(marks.get("schema_version", 0), int):
        return "its schema_version isn't a number"
    return "" if isinstance(marks.get("grade_id", ""), str) else "its grade_id isn't text"


def _is_text(source: Any) -> bool:
    lines = source if isinstance(source, list) else [source]
    return all(isinstance(line, str) for line in lines)


def insist_on_marks(path: Path, cells: Sequence[Mapping[str, Any]]) -> None:
    """Makes sure that cells of the usual form are marked as they should be.

    Raises:
        GraderError: when one isn't, or the notebook is Otter-Grader's.
    """
    by_name: dict[str, int] = {}
    for number, cell in enumerate(cells, start=1):
        mark = cell["metadata"].get("nbgrader", {})
        if any(mark.get(kind) for kind in _MARKS):
            if fault := _fault(mark, cell["cell_type"], by_name):
                raise GraderError(f"{path}: cell {number} {fault}")
            by_name[mark["grade_id"]] = number
    texts = ["".join(cell["source"]).lstrip() for cell in cells if cell["cell_type"] == "raw"]
    if any(text.startswith(_OTTERS) for text in texts):
        raise GraderError(
            f"{path} is a master notebook of Otter-Grader, which is graded by other rules. Take it out of this "
            "folder, and let cellcheck import otter make an assignment of nbgrader's of it."
        )


def _fault(mark: Mapping[str, Any], cell_type: str, by_name: Mapping[str, int]) -> str | None:
    """What is wrong with a cell's mark, as the rest of a sentence, and what to do.

    Args:
        mark: what nbgrader's metadata say.
        cell_type: what the cell is.
        by_name: the numbers of the marked cells before it.
    """
    name, sidebar = mark.get("grade_id"), "in JupyterLab's sidebar (Create Assignment)"
    if not name:
        return f"is marked for nbgrader and has no grade_id. Give it one {sidebar}, or take the mark away."
    if mark.get("schema_version", 0) < SCHEMA_VERSION:
        return None  # nbgrader says how to bring it up to date
    if name in by_name:
        return f"has the grade_id {name}, as cell {by_name[name]} has. Give one of them another {sidebar}."
    if mark.get("grade") and not isinstance(mark.get("points"), int | float):
        return f"({name}) is to be graded, and nobody has said for how many points. Give it points {sidebar}."
    if mark.get("grade") and cell_type == "markdown" and not mark.get("solution"):
        return (
            f"({name}) is a test made of text, and only code can test. Mark it as a manually graded answer {sidebar}."
        )
    if mark.get("cell_type", cell_type) != cell_type:
        was = mark["cell_type"]
        return (
            f"({name}) was {was} when it was marked, and is {cell_type} now. Change it back, or mark it again "
            f"{sidebar}."
        )
    return None
