"""Which of an assignment's notebooks a file is, by what is in it, and whether anything was written into it."""

from typing import Any

from cellcheck.errors import GraderError
from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import Cell, Cells
from cellcheck.running.intake import GradingPlan, Unreadable, as_released, read_submission
from cellcheck.running.reading_apart import read_apart

_ANSWER = "YOUR ANSWER HERE"


def title_of(data: bytes, called: str, assignment: Assignment) -> str:
    """Which of the assignment's notebooks a file is, which is `called` so.

    Raises:
        Unreadable: when it is none of them, or nobody can tell.
    """
    name = called if called in assignment.notebooks else best_fit(data, called, assignment)
    if name is None and len(assignment.notebooks) == 1:
        (name,) = assignment.notebooks
    if name is None:
        raise Unreadable(f"This isn't one of the notebooks of {assignment.name}: {', '.join(assignment.notebooks)}.")
    return name


def best_fit(data: bytes, called: str, assignment: Assignment) -> str | None:
    """Which notebook shares most cells with a file; None where none does, or two do alike.

    Where notebooks have cells of the same names, it is the one whose texts are in the file, and then the one whose name
    is in the file's. All of them are compared: a copy of one is none of another, whether or not that one is missing.
    """
    likeness: dict[str, tuple[int, int, int]] = {}
    for title, source in assignment.notebooks.items():
        if shared := _shared(data, assignment, title):
            likeness[title] = shared, _alike(data, source), len(title) if title in called else 0
    best = max(likeness.values(), default=None)
    fits = [title for title in likeness if likeness[title] == best]
    return fits[0] if len(fits) == 1 else None


def has_cells_of(data: bytes, assignment: Assignment, title: str) -> bool:
    """Whether there is anything of one of the assignment's notebooks in a file."""
    return _shared(data, assignment, title) > 0


def _shared(data: bytes, assignment: Assignment, title: str) -> int:
    """How many of a notebook's cells a file has."""
    try:
        cells, _ = as_released(data, assignment, title)
    except GraderError:
        return 0
    source = assignment.notebooks[title]
    return sum(not cell.put_back and cell.grade_id in source for cell in cells)


def _alike(data: bytes, source: Cells) -> int:
    """How many of a notebook's locked texts, and of the definitions that it asks for, are in a file."""
    cells = list(map(Cell.of, read_apart("cells", data)))
    texts = {cell.source.strip() for cell in cells}
    defined = frozenset[str]().union(*(cell.defines for cell in cells))
    originals = source.values()
    return sum(each.shown in texts if each.locked else bool(each.defines & defined) for each in originals)


def is_blank(data: bytes, assignment: Assignment, title: str) -> bool:
    """Whether no answer was begun in one of the assignment's notebooks.

    Raises:
        Unreadable: when it is not a notebook, or one of another lesson.
    """
    if assignment.exercises(title):
        return nothing_begun(read_submission(data, title), data)
    source = assignment.notebooks[title]
    if any(original.task for original in source.values()):
        return False  # whatever stands below one may be work
    cells = {cell.grade_id: cell for cell in as_released(data, assignment, title)[0] if not cell.put_back}
    answers = {name: original for name, original in source.items() if original.answer}
    return bool(answers) and all(
        name in cells and cells[name].source.strip() == original.shown for name, original in answers.items()
    )


def nothing_begun(read: GradingPlan, data: bytes) -> bool:
    """The same of a lesson's notebook that was read already: no exercise was begun, neither in code nor in words."""
    symbols = {exercise.symbol for exercise in read.lesson.exercises}
    cells = [step for step in read.steps if isinstance(step, Cell)]
    answers = [cell for cell in cells if cell.grade_id in symbols or cell.defines & symbols]
    words = [cell for cell in read_apart("cells", data) if cell["kind"] == "markdown" and _is_answer(cell["marks"])]
    return bool(answers) and all(cell.blank for cell in answers) and all(c["source"].strip() == _ANSWER for c in words)


def _is_answer(marks: Any) -> bool:
    return isinstance(marks, dict) and marks.get("solution") is True
