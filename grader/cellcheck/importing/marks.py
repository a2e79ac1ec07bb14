"""Cells of nbgrader's: names, marks, and the lines around what learners don't get."""

import copy
import re
from typing import Any

from nbformat import NotebookNode, v4

from cellcheck.importing.unknown import Unknown

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
_NBGRADERS = re.compile(r"(?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)|AUTOTEST")
"""What nbgrader looks for in a line, wherever it stands there."""
_LENGTH = 56
"""Of a name, without a number after it: it is the cell's id, too, which has at most 64 characters."""
_OTTERS = ("otter_answer_cell", "otter_assign_solution_cell", "otter_include")
_NOT_RUN, _SKIPPED = "otter_ignore", "skip-execution"
"""The tags of what isn't run when it is graded: Otter's, and nbclient's."""


class CellNames:
    """Gives each cell a name that nbgrader takes and no other cell has."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str) -> str:
        """The name itself, or with a number after it."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", wanted)[:_LENGTH] or "_"
        name, number = plain, 1
        while name in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name


def refuse_nbgraders(where: int | str, text: str, solutions: bool = False) -> None:
    """Makes sure that nbgrader takes no line of a text for its own: it could show what is hidden.

    Args:
        where: for the error.
        text: what goes into a cell.
        solutions: whether there may be solutions, each between its two lines.

    Raises:
        Unknown: when it would take one.
    """
    expected = BEGIN_SOLUTION
    for line in text.split("\n"):
        if solutions and line.strip() == expected:
            expected = END_SOLUTION if expected == BEGIN_SOLUTION else BEGIN_SOLUTION
        elif match := _NBGRADERS.search(line):
            raise Unknown.at(where, f"a line has {match[0]}, which means something to nbgrader there: take it out")


def unmarked(cell: NotebookNode, name: str, source: str) -> NotebookNode:
    """A copy with another text, and with neither outputs nor anything of Otter's, or of another nbgrader's."""
    cell = copy.deepcopy(cell)
    cell.id, cell.source = name, source
    otter, tags = cell.metadata.get("otter"), cell.metadata.pop("tags", ())
    for key in ("editable", "deletable", "otter", "nbgrader"):
        cell.metadata.pop(key, None)
    not_run = _NOT_RUN in tags or (isinstance(otter, dict) and otter.get("ignore"))
    if tags := [*(tag for tag in tags if tag not in (*_OTTERS, _NOT_RUN)), *([_SKIPPED] if not_run else [])]:
        cell.metadata["tags"] = tags
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def locked(cell: NotebookNode, name: str, source: str) -> NotebookNode:
    """A cell that learners only read."""
    return _marked(unmarked(cell, name, source), name, locked=True)


def answer(cell: NotebookNode, name: str, source: str, points: float | None = None) -> NotebookNode:
    """A cell that learners write into; with points, a person grades it."""
    by_hand = {} if points is None else {"grade": True, "points": points}
    return _marked(unmarked(cell, name, source), name, solution=True, **by_hand)


def tests(name: str, source: str, points: float) -> NotebookNode:
    """A cell of tests."""
    return _marked(v4.new_code_cell(source, id=name), name, grade=True, locked=True, points=points)


def solution(lines: list[str], indent: str = "") -> list[str]:
    """Lines that learners don't get; nbgrader puts a stub in their place."""
    return [f"{indent}{BEGIN_SOLUTION}", *lines, f"{indent}{END_SOLUTION}"]


def hidden(text: str) -> str:
    """Tests that learners don't get."""
    return f"{BEGIN_HIDDEN}\n{text}\n{END_HIDDEN}"


def identifier(name: str) -> str:
    """The name as a function may have it."""
    return name.replace("-", "_")


def _marked(cell: NotebookNode, name: str, **kind: Any) -> NotebookNode:
    usual = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    cell.metadata["nbgrader"] = {**usual, "grade_id": name, **kind}
    return cell
