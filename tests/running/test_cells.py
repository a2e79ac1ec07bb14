"""One rule says where a cell that lost its name has gone: for the marks, and for what people are shown."""

import json
from collections.abc import Callable
from functools import cache

import pytest
from nbformat import NotebookNode, v4

from cellcheck.gradebook.draft import draft
from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import Cell, whole
from cellcheck.running.grade import grade
from cellcheck.running.plain_cells import cells_of
from cellcheck.syllabus import load_lesson
from tests.running.submissions import FULL, LESSON, add, answer, filled_in, place_of, stub

ASSIGNMENT = Assignment.of_lesson(load_lesson(LESSON))
NAMELESS = answer("pick")
BLANK = stub("pick").replace("raise NotImplementedError()", "# YOUR CODE HERE\n    raise NotImplementedError()")


def lose(notebook: NotebookNode, *names: str) -> NotebookNode:
    for name in names:
        del notebook.cells[place_of(notebook, name)].metadata["nbgrader"]
    return notebook


def async_definition(notebook: NotebookNode) -> str:
    """It was no definition for the one that wrote `autograded/`."""
    cell = lose(notebook, "pick")
    definition = next(c for c in cell.cells if c.source.startswith("def pick("))
    definition.source = definition.source.replace("def pick(", "async def pick(")
    return definition.source


def comparison_behind(notebook: NotebookNode) -> str:
    """`pick == 3` was a definition for the one that wrote `autograded/`."""
    written = notebook.cells[place_of(lose_name(notebook), "mse_loss")]
    add(notebook, notebook.cells.index(written), "pick == 3")
    return NAMELESS


def lose_name(notebook: NotebookNode) -> NotebookNode:
    place = place_of(notebook, "pick")
    notebook.cells[place] = v4.new_code_cell(NAMELESS)
    return notebook


def text_behind(notebook: NotebookNode) -> str:
    """So were the words of a text in several lines."""
    lose_name(notebook)
    add(notebook, place_of(notebook, "mse_loss"), '"""\ndef pick(values, index): a note to myself\n"""')
    return NAMELESS


def blank_behind(notebook: NotebookNode) -> str:
    """The last one was shown as the answer, even where it is a blank copy that nobody grades."""
    lose_name(notebook)
    add(notebook, place_of(notebook, "mse_loss"), BLANK)
    return NAMELESS


def doubled_blank_behind(notebook: NotebookNode) -> str:
    """The same where both still have their name."""
    place = place_of(notebook, "pick")
    copy = notebook.cells[place].copy()
    notebook.cells[place].source = NAMELESS
    copy.source = BLANK
    notebook.cells.insert(place_of(notebook, "mse_loss"), copy)
    return NAMELESS


def beside_its_blank(notebook: NotebookNode) -> str:
    """The cell that was meant for it is blank; the answer is in a cell of the learner's own."""
    notebook.cells[place_of(notebook, "pick")].source = BLANK
    add(notebook, place_of(notebook, "test_pick") + 1, NAMELESS)
    return NAMELESS


def check_in_quotes(notebook: NotebookNode) -> str:
    """A check that has lost its name, and is written in another way, got a second one."""
    lose(notebook, "test_pick")
    next(cell for cell in notebook.cells if cell.source == "check(pick)").source = 'check("pick");'
    return notebook.cells[place_of(notebook, "pick")].source


def drive_mounted(notebook: NotebookNode) -> str:
    """In the set-up cell, which is locked: it stopped there, and took everything along."""
    cell = notebook.cells[place_of(notebook, "setup")]
    cell.source = f"from google.colab import drive\ndrive.mount('/content/drive')\n%cd drive\n{cell.source}"
    return str(notebook.cells[place_of(notebook, "pick")].source)


def setup_deleted(notebook: NotebookNode) -> str:
    del notebook.cells[place_of(notebook, "setup")]
    return str(notebook.cells[place_of(notebook, "pick")].source)


ACCIDENTS: list[Callable[[NotebookNode], str]] = [
    async_definition,
    comparison_behind,
    text_behind,
    blank_behind,
    doubled_blank_behind,
    beside_its_blank,
    check_in_quotes,
    drive_mounted,
    setup_deleted,
]


@cache
def as_graded(accident: Callable[[NotebookNode], str]) -> tuple[bytes, str]:
    """A notebook with right answers to which something happened, and the text of its answer to `pick`."""
    notebook = filled_in()
    written = accident(notebook)
    return json.dumps(notebook).encode(), written


@pytest.mark.parametrize("accident", ACCIDENTS, ids=lambda accident: accident.__name__)
def test_the_cell_that_is_graded_is_the_cell_that_is_shown(accident: Callable[[NotebookNode], str]) -> None:
    data, written = as_graded(accident)
    result = grade(data, 5)
    drafted = draft(ASSIGNMENT, {LESSON: data}, result)
    cells = json.loads(drafted.notebooks[LESSON])["cells"]
    shown = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade_id") == "pick"]
    assert [cell["source"].strip() for cell in shown] == [written.strip()]
    assert (LESSON, "pick") not in drafted.blank
    checks = [c["source"] for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "test_pick"]
    assert checks == ["check(pick)"]
    assert not any(cell["source"] == 'check("pick");' for cell in cells)
    lost = load_lesson(LESSON)["pick"].points if accident is async_definition else 0
    assert result.score == FULL - lost  # a coroutine is no answer; it is shown all the same


def test_an_older_release_is_not_called_changed() -> None:
    """Its own checksum says that a locked cell is as it was; another release may have had another text there."""
    notebook = filled_in()
    cell = notebook.cells[place_of(notebook, "setup")]
    assert cell.source != ASSIGNMENT.notebooks[LESSON]["setup"].source

    def repairs() -> list[str]:
        cells = map(Cell.of, cells_of(json.dumps(notebook).encode()))
        return whole(cells, ASSIGNMENT.notebooks[LESSON], ASSIGNMENT.symbols(LESSON))[1]

    assert repairs() == []
    cell.source += "\nimport math"
    assert len(repairs()) == 1


def test_a_cell_without_a_checksum_is_not_called_changed_by_a_lesson_alone() -> None:
    """As in a solution, which nbgrader has not released: only the lesson's set-up, not its text, is known here."""
    notebook = filled_in()
    del notebook.cells[place_of(notebook, "setup")].metadata.nbgrader["checksum"]
    cells = map(Cell.of, cells_of(json.dumps(notebook).encode()))
    repaired, repairs = whole(cells, ASSIGNMENT.notebooks[LESSON], ASSIGNMENT.symbols(LESSON))
    assert repairs == []
    assert (
        next(cell for cell in repaired if cell.grade_id == "setup").source
        == ASSIGNMENT.notebooks[LESSON]["setup"].source
    )
