"""A lesson's text becomes a notebook in nbgrader's source format; docs/authors.md shows the text's format."""

import hashlib
import inspect
import json
import re
from collections import Counter
from collections.abc import Mapping

import jupytext
import nbformat
from nbformat import NotebookNode

from cellcheck.authoring.spec import Lesson
from cellcheck.building import frame
from cellcheck.building.hints import one_at_a_time, with_a_way_on
from cellcheck.building.pictures import NOTHING_DRAWN, attach_pictures
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.syllabus import EXPERIMENT, load_lesson

SCHEMA_VERSION = 3
_WORD = re.compile(rf"^(?:{'|'.join(frame.WORDS)})\b", re.MULTILINE)


def source_notebook(
    repository: Repository, lesson_name: str, drawn: Mapping[str, dict[str, str]] = NOTHING_DRAWN
) -> NotebookNode:
    """The solution notebook of a lesson, not yet executed; pictures that `drawn` holds are not drawn again.

    Raises:
        GraderError: when the text's head or prose is at fault.
    """
    text = repository.text(lesson_name).read_text(encoding="utf-8")
    lesson = load_lesson(lesson_name)
    notebook = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    builder = _Builder(repository, lesson, text, drawn)
    for cell in jupytext.reads(text, fmt="py:percent").cells:
        notebook.cells += builder.convert(cell)
    builder.insist_on_words()
    notebook.cells += builder.hand_in()
    _set_ids(notebook)
    nbformat.validate(notebook)
    return notebook


class _Builder:
    def __init__(self, repository: Repository, lesson: Lesson, text: str, drawn: Mapping[str, dict[str, str]]) -> None:
        self.repository = repository
        self.lesson = lesson
        self.drawn = drawn
        self.headings = {each.symbol: each.heading for each in repository.announced(lesson.name)}
        self.words = frame.words(repository, lesson.name, text)
        self.used: list[str] = []
        self.titles: Counter[str] = Counter()
        self.title = "start"

    def convert(self, cell: NotebookNode) -> list[NotebookNode]:
        """The notebook cells that one cell of the text stands for."""
        marks = cell.metadata
        if cell.cell_type == "raw":  # the head
            return []
        if cell.cell_type == "markdown":
            if "exercise" in marks:
                return self._exercise(marks["exercise"], cell.source)
            if marks.get("explain"):
                points = float(marks.get("points", 0.0))
                return [_markdown(cell.source, "explain", grade=True, solution=True, points=points)]
            return [self._prose(cell.source)]
        if marks.get("setup"):
            return [_folded(_code(frame.setup(self.repository, self.lesson.name, cell.source), "setup", locked=True))]
        return [_experiment(cell.source)]

    def hand_in(self) -> list[NotebookNode]:
        """The last section."""
        return [self._prose(frame.HAND_IN), _experiment(frame.SUBMIT)]

    def _exercise(self, symbol: str, text: str) -> list[NotebookNode]:
        exercise = self.lesson[symbol]
        reference = exercise.references[0]
        source = inspect.getsource(reference).rstrip("\n")
        ours = f"from {reference.__module__} import {symbol}"
        return [
            self._prose(f"{self.headings[symbol]}\n\n{with_a_way_on(text, ours)}"),
            _code(source, symbol, solution=True),
            _code(f"check({symbol})", f"test_{symbol}", grade=True, locked=True, points=exercise.points),
        ]

    def _prose(self, text: str) -> NotebookNode:
        text = _WORD.sub(self._written, text)
        text, attachments = attach_pictures(one_at_a_time(text), self.lesson.name, self.drawn)
        heading = re.search(r"^#+ +(.+)$", text, re.MULTILINE)
        if heading:
            self.title = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")[:40]
        self.titles[self.title] += 1
        cell = _markdown(text, f"text-{self.title}-{self.titles[self.title]}", locked=True)
        if attachments:
            cell.attachments = attachments
        return cell

    def _written(self, word: re.Match[str]) -> str:
        self.used.append(word[0])
        return self.words[word[0]]

    def insist_on_words(self) -> None:
        """What the head says is told to learners, once.

        Raises:
            GraderError: when a word is missing in the text, or stands there twice.
        """
        for word, replacement in self.words.items():
            if self.used.count(word) != bool(replacement):
                where = self.repository.text(self.lesson.name)
                raise GraderError(
                    f"{where}: the head has {word.lower()}, so {word} should begin one line of the prose, and "
                    f"{self.used.count(word)} do. Put it where learners are to read that."
                    if replacement
                    else f"{where}: a line of the prose begins with {word}, and the head has no {word.lower()}."
                )


def _experiment(source: str) -> NotebookNode:
    """A cell that runs for the learner, never for a mark."""
    cell = nbformat.v4.new_code_cell(source)
    cell.metadata["tags"] = [EXPERIMENT]
    return cell


def _folded(cell: NotebookNode) -> NotebookNode:
    """Of this cell one reads the first line, in JupyterLab and in Colab: a beginner's first code isn't plumbing."""
    cell.metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
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
