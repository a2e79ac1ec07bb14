"""Understanding a submission: plain cells become steps to take, whatever state the notebook is in.

Its metadata is a hint, never trusted: a symbol is found by its grade id, else by its definition.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellcheck.authoring.spec import Lesson
from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import CHECKS, Cell, whole
from cellcheck.running.plain_cells import MAX_BYTES as MAX_BYTES
from cellcheck.running.plain_cells import Unreadable as Unreadable
from cellcheck.running.plain_cells import too_large
from cellcheck.running.reading_apart import read_apart
from cellcheck.running.result import OwnTest
from cellcheck.syllabus import UnknownLesson, load_lesson, usable_lessons


@dataclass(frozen=True)
class GradingPlan:
    """What there is to do, in order: cells to run, symbols (as text) to ask for, and an instructor's own tests."""

    lesson: Lesson
    steps: tuple[Cell | str | OwnTest, ...]
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
        raise Unreadable(too_large(path.stat().st_size))
    return path.read_bytes()


def read_submission(data: bytes, lesson: str | None = None) -> GradingPlan:
    """What is in a lesson's notebook; which lesson's, its cells tell.

    Args:
        data: the notebook's bytes.
        lesson: its lesson, for a notebook that does not tell.

    Raises:
        Unreadable: when it isn't a notebook, or isn't one of a known lesson.
    """
    return understood(read_apart("cells", data), lesson)


def lesson_in(data: bytes, lesson: str | None = None) -> Lesson:
    """The lesson whose notebook it is, as `read_submission` finds it, and no more.

    Raises:
        Unreadable: when it isn't a notebook, or isn't one of a known lesson.
    """
    return _find_lesson(list(map(Cell.of, read_apart("cells", data))), lesson)[0]


def understood(cells: Iterable[dict[str, Any]], lesson: str | None = None) -> GradingPlan:
    """As `read_submission`, of cells that have been read already (see `cellcheck.running.plain_cells.cells_of`)."""
    there = list(map(Cell.of, cells))
    its_lesson, how = _find_lesson(there, lesson)
    assignment = Assignment.of_lesson(its_lesson)
    completed, repairs = whole(there, assignment.notebooks[its_lesson.name], assignment.symbols(its_lesson.name))
    return GradingPlan(
        its_lesson, tuple(assignment.steps(its_lesson.name, completed)), (*([how] if how else []), *repairs)
    )


def as_released(data: bytes, assignment: Assignment, title: str) -> tuple[list[Cell], list[str]]:
    """The cells of a notebook that was handed in as one of an assignment's, made whole, and what was put right.

    Raises:
        Unreadable: when it isn't a notebook, or one of another lesson.
    """
    cells = list(map(Cell.of, read_apart("cells", data)))
    if assignment.lesson is not None and assignment.exercises(title):
        its_lesson, _ = _find_lesson(cells, assignment.lesson.name)
        if its_lesson.name != assignment.lesson.name:
            raise Unreadable(
                f"This is a notebook of lesson {its_lesson.name}, not of {assignment.lesson.name}. "
                "Submit the right one."
            )
    return whole(cells, assignment.notebooks[title], assignment.symbols(title))


def _find_lesson(cells: Iterable[Cell], asked: str | None) -> tuple[Lesson, str | None]:
    cells = [cell for cell in cells if cell.kind == "code" or cell.retyped]
    for cell in cells:
        for name in CHECKS.findall(cell.source):
            try:
                return load_lesson(name), None
            except UnknownLesson:
                continue
    there = {name for cell in cells for name in (*cell.defines, cell.grade_id or "")}
    lessons, _ = usable_lessons()
    fits = {n: len(there & {e.symbol for e in lesson.exercises}) for n, lesson in lessons.items()}
    best = max(fits, key=lambda name: fits[name])
    if fits[best] * 2 >= len(lessons[best].exercises):
        return lessons[best], f"The set-up cell is missing; the symbols say that this is lesson {best}."
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
