"""Plain notebooks that were damaged, stripped, renamed or put in another order keep what was earned."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from cellcheck.errors import GraderError
from cellcheck.running.cells import Cell, whole
from cellcheck.running.grade import grade_submission
from cellcheck.running.handed_in import choose, handed_in
from cellcheck.running.plain_cells import cells_of
from cellcheck.running.result import Result
from tests.assignments.sources import answer, assignment, file_of, hidden, locked, plain, task, work
from tests.assignments.sources import test as check_cell

CELLS = [
    plain("# One", "markdown"),
    locked("setup", "import math"),
    answer("double", "def double(x):\n    raise NotImplementedError()"),
    check_cell("test_double", 2, hidden("assert double(1) == 2", "assert double(2) == 4")),
    answer("value", "# A value"),
    check_cell("test_value", 1, "assert value == 7"),
    answer("why", "Say why.", 2, "markdown"),
    task("try_it", 1, "Try it."),
    answer("root", "def root(x):\n    raise NotImplementedError()"),
    check_cell("test_root", 1, "0.5 if root(4) == 2 else 0"),
]
ASSIGNMENT = assignment("one", {"one": CELLS})
PAIR = assignment(
    "pair", {"one": CELLS, "two": [answer("more", "more = None"), check_cell("test_more", 1, "assert more")]}
)
WRITTEN = {
    "double": "def double(x):\n    return 2 * x",
    "value": "value = 7",
    "why": "Because.",
    "root": "def root(x):\n    return math.sqrt(x)",
}
FULL = {"test_double": 2.0, "test_value": 1.0, "test_root": 0.5}


def written() -> NotebookNode:
    """Everything is right; the hidden part of the test is gone, as in a release."""
    notebook = nbformat.reads(file_of(CELLS), as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = WRITTEN.get(name, cell.source.split("\n### BEGIN HIDDEN")[0])
    return notebook


def called(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def strip(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata.clear()


def double_ids(notebook: NotebookNode) -> None:
    """Copied and pasted, name and all: the old attempt comes first."""
    old = called(notebook, "double").copy()
    old.source = "def double(x):\n    return x"
    notebook.cells.insert(2, old)
    notebook.cells.append(called(notebook, "test_double").copy())


def reorder(notebook: NotebookNode) -> None:
    """All answers first, tests last, in another order."""
    tests = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id", "").startswith("test_")]
    notebook.cells = [c for c in notebook.cells if c not in tests] + tests[::-1]


def delete(notebook: NotebookNode) -> None:
    for name in ("setup", "test_value", "test_root"):
        notebook.cells.remove(called(notebook, name))


def edit_tests(notebook: NotebookNode) -> None:
    """Tests that are always passed, or never run."""
    called(notebook, "test_double").source = "pass"
    called(notebook, "test_value").metadata["tags"] = ["skip-execution"]
    called(notebook, "test_root").metadata.nbgrader.points = 99
    called(notebook, "setup").source = "import math as something_else"


def retype(notebook: NotebookNode) -> None:
    """Turned into text, by the key M."""
    for name in ("double", "test_value"):
        cell = called(notebook, name)
        cell.cell_type = "markdown"
        del cell["outputs"], cell["execution_count"]


def rename(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id += "-copy1"


def forge_marks(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader")
        if marks:
            marks.update(grade=True, solution=True, locked=False, points=10, schema_version="x")


def add_tests(notebook: NotebookNode) -> None:
    notebook.cells.append(check_cell("bonus", 50, "assert True"))


DAMAGES: dict[str, tuple[Callable[[NotebookNode], None], dict[str, float], str]] = {
    "none": (lambda notebook: None, FULL, ""),
    "stripped": (strip, FULL, "had lost its cell metadata"),
    "ids twice": (double_ids, FULL, "2 cells are called double; the last attempt counts."),
    "reordered": (reorder, FULL, ""),
    "deleted": (delete, FULL, "The cell test_value isn't in this notebook: it was deleted, or added after"),
    "edited tests": (edit_tests, FULL, "The cell test_double had been changed; the released one was used."),
    "retyped": (retype, FULL, "was no longer a code cell; it was run as one."),
    "renamed cells": (rename, FULL, "The cell of double had lost its mark; it was found by its definition."),
    "other marks": (forge_marks, FULL, "The points of test_double in this notebook are not the current ones"),
    "tests of one's own": (add_tests, FULL, ""),
}


def marks(result: Result) -> dict[str, float]:
    return {test.name: test.score for test in result.own_tests}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_was_earned_is_kept(name: str) -> None:
    damage, expected, sentence = DAMAGES[name]
    notebook = written()
    damage(notebook)
    result = grade_submission({"one": json.dumps(notebook).encode()}, ASSIGNMENT)
    assert marks(result) == expected, result
    assert result.max_score == 4
    assert sentence in " ".join(result.repairs)
    assert sentence or not result.repairs


@pytest.mark.parametrize("damage", [lambda notebook: None, strip], ids=["as released", "stripped"])
def test_an_example_before_a_blank_is_no_attempt(damage: Callable[[NotebookNode], None]) -> None:
    """A course in programming defines a function, then asks for the same in the learner's own words."""
    cells = [plain("def double(x):\n    return x + x"), *CELLS]
    released = nbformat.reads(work(cells, {}), as_version=4)
    damage(released)
    assert marks(graded(cells, released))["test_double"] == 0
    behind = nbformat.reads(work(cells, {}), as_version=4)
    behind.cells.insert(4, plain(WRITTEN["double"]))  # a learner's own, below the blank
    assert marks(graded(cells, behind))["test_double"] == 2


def graded(cells: list[NotebookNode], notebook: NotebookNode) -> Result:
    return grade_submission({"one": nbformat.writes(notebook).encode()}, assignment("one", {"one": cells}))


def test_answers_that_cannot_be_found_wait_for_a_person() -> None:
    notebook = written()
    strip(notebook)
    cells, _ = whole(map(Cell.of, cells_of(json.dumps(notebook).encode())), ASSIGNMENT.notebooks["one"])
    assert {cell.grade_id for cell in cells if cell.lost} >= {"why"}
    called = [cell.grade_id for cell in cells if cell.grade_id]
    assert sorted(called) == sorted(set(called))
    assert set(called) >= {name for name, cell in ASSIGNMENT.notebooks["one"].items() if cell.points is not None}


def test_more_than_the_maximum_is_the_maximum() -> None:
    cells = [check_cell("bonus", 2, "3.0"), check_cell("next", 1, "assert True")]
    result = grade_submission({"one": file_of(cells)}, assignment("bonus", {"one": cells}))
    assert marks(result) == {"bonus": 2.0, "next": 1.0}


TEXTS: list[Any] = [[], [{}], [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": ["x"]}}, "source": 3}]]


@pytest.mark.parametrize("cells", TEXTS, ids=["no cells", "an empty one", "odd types"])
def test_odd_files_cost_themselves_only(cells: list[Any]) -> None:
    odd = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()
    second = file_of([answer("more", "more = True"), PAIR_TEST])
    result = grade_submission({"one": odd, "two": second}, PAIR)
    assert marks(result) == {"test_double": 0, "test_value": 0, "test_root": 0, "test_more": 1}
    assert result.max_score == 5


PAIR_TEST = check_cell("test_more", 1, "assert more")


def test_which_file_is_which(tmp_path: Path) -> None:
    """By its name; else by its cells; else, where there is only one, it is that one."""
    one, two = json.dumps(written()).encode(), file_of([answer("more", "more = True"), PAIR_TEST])
    (tmp_path / "my homework (1).ipynb").write_bytes(one)
    (tmp_path / "two.ipynb").write_bytes(two)
    (tmp_path / "scratch.ipynb").write_bytes(file_of([plain("1 + 1")]))
    chosen, notes = choose(tmp_path, PAIR)
    assert notes == (
        "The notebook was called my homework (1).ipynb; it was treated as one.ipynb.",
        "scratch.ipynb was left out: none of the notebooks of pair.",
    )
    assert {name: path.name for name, path in chosen.items()} == {"one": "my homework (1).ipynb", "two": "two.ipynb"}
    notebooks, whole_of_it = handed_in(tmp_path, PAIR)
    assert (notebooks, whole_of_it) == ({"one": one, "two": two}, PAIR)
    notebooks, part = handed_in(tmp_path / "my homework (1).ipynb", PAIR)
    assert notebooks == {"one": one}
    assert list(part.notebooks) == ["one"]
    assert handed_in(two, PAIR)[0] == {"two": two}
    with pytest.raises(GraderError, match="isn't one of the notebooks of pair: one, two"):
        handed_in(tmp_path / "scratch.ipynb", PAIR)
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "two.ipynb")
    with pytest.raises(GraderError, match="link"):
        handed_in(tmp_path / "link.ipynb", PAIR)
