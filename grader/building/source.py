"""A lesson's text becomes a notebook in nbgrader's source format. See `lessons/README.md` for the text's format."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import jupytext
import nbformat
from nbformat import NotebookNode

from grader.authoring.spec import Lesson
from grader.building import frame
from grader.building.hints import one_at_a_time, with_a_way_on
from grader.building.pictures import NOTHING_DRAWN, attach_pictures
from grader.errors import GraderError
from grader.repository import Repository
from grader.syllabus import EXPERIMENT, load_lesson

SCHEMA_VERSION = 3


def source_notebook(
    repository: Repository, lesson_name: str, drawn: Mapping[str, dict[str, str]] = NOTHING_DRAWN
) -> NotebookNode:
    """The solution notebook of a lesson, not yet executed; pictures that `drawn` holds are not drawn again.

    Raises:
        GraderError: when the text names an exercise twice.
    """
    text = repository.text(lesson_name).read_text(encoding="utf-8")
    lesson = load_lesson(lesson_name)
    made = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    builder = _Builder(repository, lesson, text, drawn)
    for cell in jupytext.reads(text, fmt="py:percent").cells:
        made.cells += builder.convert(cell)
    made.cells += builder.hand_in()
    _set_ids(made)
    nbformat.validate(made)
    return made


class _Builder:
    def __init__(self, repository: Repository, lesson: Lesson, text: str, drawn: Mapping[str, dict[str, str]]) -> None:
        self.repository = repository
        self.lesson = lesson
        self.text = text
        self.drawn = drawn
        self.placed: list[str] = []
        self.titles: Counter[str] = Counter()
        self.title = "start"

    def convert(self, cell: NotebookNode) -> list[NotebookNode]:
        """The notebook cells that one cell of the text stands for."""
        marks = cell.metadata
        if cell.cell_type == "markdown":
            if marks.get("explain"):
                return [_markdown(cell.source, "explain", grade=True, solution=True, points=0.0)]
            return [self._prose(cell.source)]
        if marks.get("setup"):
            return [_code(frame.setup(self.repository, self.lesson.name, cell.source), "setup", locked=True)]
        if "exercise" in marks:
            return self._exercise(marks["exercise"])
        return [_experiment(cell.source)]

    def hand_in(self) -> list[NotebookNode]:
        """The last section."""
        return [self._prose(frame.HAND_IN), _experiment(frame.SUBMIT)]

    def _exercise(self, symbol: str) -> list[NotebookNode]:
        exercise = self.lesson[symbol]
        if symbol in self.placed:
            raise GraderError(
                f"{self.repository.text(self.lesson.name)}: the text has two cells for {symbol}. Take one of them out."
            )
        self.placed.append(symbol)
        source = inspect.getsource(exercise.references[0]).rstrip("\n")
        return [
            _code(source, symbol, solution=True),
            _code(f"check({symbol})", f"test_{symbol}", grade=True, locked=True, points=exercise.points),
        ]

    def _prose(self, text: str) -> NotebookNode:
        text = text.replace("COLAB_BADGE", self._badge) if self._badge else re.sub(r"COLAB_BADGE\n*", "", text)
        text = one_at_a_time(with_a_way_on(text, self._ours))
        text, attachments = attach_pictures(text, self.lesson.name, self.drawn)
        heading = re.search(r"^#+ +(.+)$", text, re.MULTILINE)
        if heading:
            self.title = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")[:40]
        self.titles[self.title] += 1
        cell = _markdown(text, f"text-{self.title}-{self.titles[self.title]}", locked=True)
        if attachments:
            cell.attachments = attachments
        return cell

    def _ours(self, symbol: str) -> str:
        """The line that imports the course's own answer."""
        known = {exercise.symbol: exercise for exercise in self.lesson.exercises}
        module = known[symbol].references[0].__module__ if symbol in known else "..."  # an unknown one is told later
        return f"from {module} import {symbol}"

    @cached_property
    def _badge(self) -> str:
        """What opens the lesson in Colab; its address stands in a file."""
        return frame.badge(self.repository, self.lesson.name, self.text)


def _experiment(source: str) -> NotebookNode:
    """A cell that runs for the learner, never for a mark."""
    cell = nbformat.v4.new_code_cell(source)
    cell.metadata["tags"] = [EXPERIMENT]
    return cell


def _code(source: str, grade_id: str, **marks: bool | float) -> NotebookNode:
    return _mark(nbformat.v4.new_code_cell(source), grade_id, **marks)


def _markdown(source: str, grade_id: str, **marks: bool | float) -> NotebookNode:
    return _mark(nbformat.v4.new_markdown_cell(source), grade_id, **marks)


def _mark(cell: NotebookNode, grade_id: str, **marks: bool | float) -> NotebookNode:
    cell.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": grade_id,
        "locked": False,
        "schema_version": SCHEMA_VERSION,
        "solution": False,
        "task": False,
        **marks,
    }
    return cell


def _set_ids(notebook: NotebookNode) -> None:
    """Cell ids that are the same every time: from the grade id, else from the content."""
    taken: Counter[str] = Counter()
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        name = grade_id or hashlib.sha256(cell.source.encode()).hexdigest()[:16]
        taken[name] += 1
        cell.id = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:60] + (f"-{taken[name]}" if taken[name] > 1 else "")


def comparable(notebook: NotebookNode) -> str:
    """What must agree between two builds of a solution: everything but outputs and execution counts."""
    cells = [
        {
            "type": cell.cell_type,
            "id": cell.id,
            "source": cell.source,
            "metadata": cell.metadata,
            "pictures": cell.get("attachments", {}),
        }
        for cell in notebook.cells
    ]
    return json.dumps({"cells": cells, "metadata": notebook.metadata}, sort_keys=True)
