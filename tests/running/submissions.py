"""Notebooks as they come in, made by editing the released one."""

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.running.assignment import Assignment
from cellcheck.running.blanks import blank
from cellcheck.running.cells import SourceCell
from cellcheck.running.result import OwnTest
from cellcheck.syllabus import load_lesson
from transformer_course.lessons.lesson_01.demo import LESSON

REPOSITORY = Repository.find(Path(__file__).parent)
EXERCISES = load_lesson(LESSON).exercises
SYMBOLS = [exercise.symbol for exercise in EXERCISES]
FULL = sum(exercise.points for exercise in EXERCISES)


@cache
def released() -> str:
    """The text of the released notebook."""
    return REPOSITORY.notebook(LESSON).read_text("utf-8")


def filled_in(types: Mapping[str, str] | None = None, begins: int = 99) -> NotebookNode:
    """The released notebook with right answers, but for the cells that are typed otherwise."""
    return Learner("somebody", LESSON, begins=begins, types=types or {}).fill_in(released())


def with_tests(tests: Iterable[OwnTest]) -> Assignment:
    """The lesson as an instructor released it who has put tests of their own behind it."""
    lesson = Assignment.of_lesson(load_lesson(LESSON))
    own = {test.name: SourceCell("code", True, test.source, "", test.points, False) for test in tests}
    return replace(lesson, notebooks={LESSON: {**lesson.notebooks[LESSON], **own}})


def as_bytes(notebook: NotebookNode) -> bytes:
    """What would be submitted."""
    return nbformat.writes(notebook).encode()


def add(notebook: NotebookNode, place: int, *sources: str) -> NotebookNode:
    """Puts cells of the learner's own in."""
    notebook.cells[place:place] = [nbformat.v4.new_code_cell(source) for source in sources]
    return notebook


def place_of(notebook: NotebookNode, grade_id: str) -> int:
    """Where a cell stands."""
    return next(
        place
        for place, cell in enumerate(notebook.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def without_metadata(notebook: NotebookNode) -> NotebookNode:
    """As some platforms hand it on."""
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
    return notebook


def rough(*sources: str, **more: Any) -> bytes:
    """A notebook of nothing but code."""
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


def answer(symbol: str) -> str:
    """The course's text of a symbol."""
    return inspect.getsource(load_lesson(LESSON)[symbol].references[0])


def stub(symbol: str) -> str:
    """What a learner finds."""
    return blank(answer(symbol))
