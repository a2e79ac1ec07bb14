"""Learners: how somebody fills in a released notebook, and what may happen to the file on the way."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from grader.errors import GraderError
from grader.running.blanks import blank
from grader.syllabus import Syllabus, load_lesson


@dataclass(frozen=True)
class Learner:
    """Somebody who fills in a notebook.

    `begins` from the course's own answers for the first so many exercises; `types` other cells instead; `edits`
    are slips of the pen: in the answer to a symbol, one text in place of another.
    """

    name: str
    lesson: str
    begins: int = 99
    types: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    accident: Callable[[NotebookNode], str] = json.dumps
    """What happens to the file before it is handed in."""

    def hand_in(self, released: str) -> str:
        """The text of the file that the learner hands in."""
        return self.accident(self.fill_in(released))

    def fill_in(self, released: str) -> NotebookNode:
        """The learner's notebook, from the text of the released one."""
        notebook = nbformat.reads(released, as_version=4)
        answers = self._answers()
        for cell in notebook.cells:
            symbol = cell.metadata.get("nbgrader", {}).get("grade_id")
            if cell.cell_type == "code" and symbol in answers:
                cell.source = answers[symbol]
        return notebook

    def _answers(self) -> dict[str, str]:
        exercises = load_lesson(self.lesson).exercises
        answers = {e.symbol: inspect.getsource(e.references[0]).rstrip() for e in exercises[: self.begins]}
        for symbol, (old, new) in self.edits.items():
            if old not in answers[symbol]:
                raise ValueError(f"{self.name} can't slip in {symbol}: {old!r} is not in the answer.")
            answers[symbol] = answers[symbol].replace(old, new)
        return {symbol: _without_marks(text) for symbol, text in (answers | dict(self.types)).items()}


def _without_marks(source: str) -> str:
    """A learner's cell has no solution marks."""
    assert blank(source) != source or "### BEGIN" not in source
    return "\n".join(line for line in source.splitlines() if "### " not in line)


def stripped(notebook: NotebookNode) -> str:
    """An editor threw all metadata away."""
    for cell in notebook.cells:
        cell.metadata = {}
    return json.dumps(notebook)


def doubled(notebook: NotebookNode) -> str:
    """A solution cell was copied, id and metadata and all."""
    marks = [cell.metadata.get("nbgrader", {}) if cell.cell_type == "code" else {} for cell in notebook.cells]
    at = next(i for i, mark in enumerate(marks) if mark.get("solution"))
    notebook.cells.insert(at, notebook.cells[at])
    return json.dumps(notebook)  # nbformat would refuse to write it


def a_letter(notebook: NotebookNode) -> str:
    """The wrong file, which can't be graded."""
    return f"Dear teacher, I had trouble with the {len(notebook.cells)} cells. May I hand it in next week?"


def demo_class(syllabus: Syllabus) -> tuple[Learner, ...]:
    """The learners of every lesson that brings a class in its `demo.py`; else six for the first lesson.

    Raises:
        GraderError: when a course has no lessons.
    """
    with_a_class = [name for name in syllabus.names() if syllabus.has(name, "demo")]
    if with_a_class:
        return tuple(learner for name in with_a_class for learner in syllabus.part(name, "demo").LEARNERS)
    if not syllabus.names():
        raise GraderError(f"There are no lessons in {syllabus.folder}: grader new lesson makes one.")
    lesson = syllabus.names()[0]
    exercises = load_lesson(lesson).exercises
    endless = "while True:\n    pass"
    return (
        Learner("ada", lesson),
        Learner("bela", lesson, begins=len(exercises) // 2),
        Learner("chidi", lesson, types={exercises[0].symbol: endless}),
        Learner("dana", lesson, accident=stripped),
        Learner("eli", lesson, accident=doubled),
        Learner("fay", lesson, accident=a_letter),
    )
