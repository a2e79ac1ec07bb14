"""Plain nbgrader assignments, and what learners hand in of them.

Two are written here in the manner of public university courses: a first course in programming (a value to assign, a
test that it exists, hidden tests of what it is), and numerical methods (functions, data and a module beside the
notebook, partial credit). A third is nbgrader's own, which `nbgrader quickstart` makes.
"""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from nbgrader import utils

from grader.running.assignment import Assignment, SourceCell

CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "mine"\n'
HEADER = "c.IncludeHeaderFooter.header = 'source/header.ipynb'\n"


def answer(name: str, source: str, points: float | None = None, kind: str = "code") -> NotebookNode:
    """A cell that learners write into; one with points is graded by hand."""
    return _cell(kind, source, grade_id=name, solution=True, grade=points is not None, points=points)


def test(name: str, points: float, source: str) -> NotebookNode:
    """A test cell."""
    return _cell("code", source, grade_id=name, grade=True, locked=True, points=points)


def locked(name: str, source: str, kind: str = "code") -> NotebookNode:
    """A cell that learners only read."""
    return _cell(kind, source, grade_id=name, locked=True)


def task(name: str, points: float, source: str) -> NotebookNode:
    """A task: learners answer below it, in cells of their own."""
    return _cell("markdown", source, grade_id=name, locked=True, task=True, points=points)


def plain(source: str, kind: str = "code") -> NotebookNode:
    """A cell that nbgrader knows nothing of."""
    return v4.new_code_cell(source) if kind == "code" else v4.new_markdown_cell(source)


def _cell(kind: str, source: str, **marks: Any) -> NotebookNode:
    cell = plain(source, kind)
    whole = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, **marks}
    cell.metadata["nbgrader"] = {name: value for name, value in whole.items() if value is not None}
    return cell


def solved(stub: str, solution: str) -> str:
    """The text of an answer with its solution marked."""
    indent = solution[: len(solution) - len(solution.lstrip())]
    return f"{stub}{indent}### BEGIN SOLUTION\n{solution}\n{indent}### END SOLUTION"


def hidden(shown: str, secret: str) -> str:
    """The text of a test of which a part is hidden."""
    return f"{shown}\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"


VARIABLES = [
    plain("# Variables\nEach cell asks for one thing.", "markdown"),
    answer("honour", solved("", "honest = True")),
    test("test_honour", 0.25, "assert honest"),
    answer("true_var", solved("", "true_var = 'abc'.isalpha()\nfalse_var = '!!'.isalpha()")),
    test("test_true_var", 0.5, hidden("assert true_var is not None", "assert true_var\nassert not false_var")),
    answer("consonants", solved("def consonants(text):\n", "    return sum(c not in 'aeiou' for c in text)\n")),
    plain("consonants('banana')"),
    test("test_consonants", 1.25, hidden("assert callable(consonants)", "assert consonants('banana') == 3")),
    answer("why", "Vowels are what remains.", 2, "markdown"),
    answer("own_example", "print(consonants('a word of my own'))", 1),
    task("show_it", 3, "Show it on three texts of your own."),
]

MEASURED = [
    plain("%matplotlib inline\nimport matplotlib.pyplot as plt"),
    locked("setup", "import csv\nimport numpy as np\nfrom helpers import close\n"),
    answer(
        "load",
        solved(
            "def load(path):\n", "    with open(path) as file:\n        return [float(r[0]) for r in csv.reader(file)]"
        ),
    ),
    test(
        "test_load", 1, hidden("values = load('data/values.csv')\nassert len(values) == 4", "assert values[3] == 2.5")
    ),
    answer("slope", solved("def slope(x, y):\n", "    return np.polyfit(x, y, 1)[0]")),
    # a helper that a later test needs
    test(
        "test_line",
        2,
        "def points_for(f, cases):\n    return sum(0.5 for x, y, m in cases if close(f(x, y), m))\n"
        "cases = [([0, 1], [0, 2], 2), ([0, 1], [1, 1], 0), ([0, 2], [0, 1], 0.5), ([0, 1, 2], [0, -1, -2], -1)]\n"
        "points_for(slope, cases)",
    ),
    test("test_again", 1, "0.25 + points_for(slope, [([0, 1], [0, 3], 3)]) * 1.5"),
    plain("plt.plot(load('data/values.csv'))\nplt.title('values');"),
    answer("summary", "summary = f'{slope([0, 1], [0, 1]):.1f}'"),
    test("test_summary", 1, "print(summary)\nassert summary == '1.0', 'the slope of y = x is 1'"),
]
MORE = [
    answer("image", solved("", "with open('picture.bin', 'rb') as file:\n    picture = file.read()")),
    test("test_image", 1, "assert picture[:3] == b'\\xff\\x00\\xfe'"),
    test("test_numpy", 1, "import numpy.testing as npt\nnpt.assert_allclose(len(picture), 4)"),
]
FILES = {
    "data/values.csv": b"0.5\n1.0\n2.0\n2.5\n",
    "helpers.py": "def close(a, b):\n    'über den Daumen'\n    return abs(a - b) < 1e-9\n".encode(),
    "picture.bin": b"\xff\x00\xfe\x01",
}
ASSIGNMENTS = {
    "intro": ({"variables": VARIABLES}, {}),
    "methods": ({"measured": MEASURED, "more": MORE}, FILES),
}

STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
_HIDDEN = re.compile(r"\n### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)
_SOLUTION = re.compile(r"^([ ]*)### BEGIN SOLUTION\n.*?### END SOLUTION", re.MULTILINE | re.DOTALL)

Edits = Mapping[tuple[str, str], str]
"""What is written into a cell, by notebook and name."""


def add(
    root: Path,
    name: str,
    notebooks: Mapping[str, Iterable[NotebookNode]],
    files: Mapping[str, bytes] = {},
    source: str = "source",
) -> None:
    """Puts an assignment's source into a course."""
    folder = root / source / name
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    for title, cells in notebooks.items():
        made = v4.new_notebook(cells=list(cells), metadata={"kernelspec": {"name": "python3", "display_name": "P"}})
        nbformat.write(v4.upgrade(made), folder / f"{title}.ipynb")


def answers(root: Path, name: str) -> dict[tuple[str, str], str]:
    """The instructor's own answers."""
    found = {}
    for path in (root / "source" / name).glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution"):
                found[path.stem, marks["grade_id"]] = cell.source
    return found


def hand_in(root: Path, name: str, student: str, edits: Edits) -> Path:
    """Copies what was released, and writes into its cells."""
    folder = root / "submitted" / student / name
    shutil.copytree(root / "release" / name, folder)
    for path in folder.glob("*.ipynb"):
        edit(path, lambda cell, title=path.stem: edits.get((title, cell)))
    return folder


def edit(path: Path, text: Any) -> None:
    """Writes into a notebook's named cells what `text` gives for their names."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        written = text(cell.metadata.get("nbgrader", {}).get("grade_id"))
        cell.source = cell.source if written is None else written
    nbformat.write(notebook, path)


def assignment(
    name: str, notebooks: Mapping[str, Iterable[NotebookNode]], files: Mapping[str, bytes] = {}
) -> Assignment:
    """An assignment as a gradebook would know it, without a gradebook."""
    return Assignment(
        name, {title: dict(map(_known, filter(_marks, cells))) for title, cells in notebooks.items()}, None, files
    )


def _marks(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def _known(cell: NotebookNode) -> tuple[str, SourceCell]:
    marks = _marks(cell)
    answer = marks["solution"] or marks["task"]
    found = SourceCell(
        cell.cell_type,
        utils.is_locked(cell),
        released_text(cell.source),
        "",
        marks["points"] if marks["grade"] or marks["task"] else None,
        answer,
        marks["task"],
    )
    return marks["grade_id"], found


def released_text(source: str) -> str:
    """A cell's text as learners get it, with its hidden tests."""
    return _SOLUTION.sub(lambda found: "".join(f"{found[1]}{line}\n" for line in STUB.splitlines()).rstrip(), source)


def work(cells: Iterable[NotebookNode], edits: Mapping[str, str]) -> bytes:
    """A notebook as a learner hands it in: what was released, and what is written into its cells, by their names."""
    made = v4.new_notebook(cells=copy.deepcopy(list(cells)))
    for cell in made.cells:
        released = _HIDDEN.sub("", released_text(cell.source))
        cell.source = edits.get(_marks(cell).get("grade_id", ""), released)
    return nbformat.writes(made).encode()


def file_of(cells: Iterable[NotebookNode]) -> bytes:
    """A notebook's bytes."""
    return nbformat.writes(v4.new_notebook(cells=list(cells))).encode()
