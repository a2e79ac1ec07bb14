"""Writes a graded submission as nbgrader would: gradebook and autograded notebook.

nbgrader's own Autograde does all of it (late penalties, locked cells, hand-graded cells); only the step that runs
the notebook is replaced: the test cells get the verdicts that were made elsewhere.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import Execute, NbGraderPreprocessor

from grader.checking.cards import card, plain
from grader.checking.judge import Verdict
from grader.errors import GraderError
from grader.exercises import load_lesson
from grader.gradebook.course import Course
from grader.gradebook.feedback import failure_page, page
from grader.gradebook.repair import sound_notebook
from grader.running.grade import Result


class _Verdicts(NbGraderPreprocessor):  # type: ignore[misc]
    """Stands where nbgrader's Execute stands."""

    verdicts: Mapping[str, Verdict] = {}

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        for cell in nb.cells:
            if utils.is_grade(cell) and cell.cell_type == "code":
                symbol = cell.metadata.nbgrader.grade_id.removeprefix("test_")
                if symbol in self.verdicts:
                    cell.outputs = outputs(self.verdicts[symbol])
        return nb, resources


class _Autograde(Autograde):  # type: ignore[misc]
    """nbgrader's Autograde for one notebook that is in memory, and graded already."""

    notebook: NotebookNode
    lesson: str

    def init_notebooks(self) -> None:
        folder = self._format_source(self.lesson, self.coursedir.student_id)
        # The notebook may have been handed in under another name; nbgrader knows it under this one.
        self.assignments = {folder: [str(Path(folder, f"{self.lesson}.ipynb"))]}

    def convert_single_notebook(self, notebook_filename: str) -> None:
        self._sanitizing = True
        resources = self.init_single_notebook_resources(notebook_filename)
        self._init_preprocessors()
        sanitized, _ = self.exporter.from_notebook_node(self.notebook, copy.deepcopy(resources))
        self._sanitizing = False
        try:
            self._init_preprocessors()
            graded, resources = self.exporter.from_notebook_node(nbformat.reads(sanitized, 4), resources)
            self.write_single_notebook(graded, resources)
        finally:
            self._sanitizing = True


def outputs(verdict: Verdict) -> list[NotebookNode]:
    """What `check` would have left in the notebook: the card, and the score as nbgrader reads it."""
    if verdict.score > 0:
        data = {"text/plain": repr(verdict.score), "text/html": card(verdict)}
        return [nbformat.v4.new_output("execute_result", data=data, execution_count=None)]
    shown = {"text/plain": plain(verdict), "text/html": card(verdict)}
    return [
        nbformat.v4.new_output("display_data", data=shown),
        nbformat.v4.new_output("error", ename="NotYet", evalue=verdict.message, traceback=[verdict.message]),
    ]


def write(course: Course, student: str, data: bytes, result: Result) -> None:
    """Writes marks, the autograded notebook and the feedback page of one submission.

    Raises:
        GraderError: when nbgrader can't; the gradebook then holds what it held before.
    """
    directory = course.directory
    verdicts = {verdict.symbol: verdict for verdict in result.verdicts}
    step = type("_ThisSubmission", (_Verdicts,), {"verdicts": verdicts})
    converter = _Autograde(coursedir=directory, config=course.config)
    converter.notebook = sound_notebook(data, load_lesson(result.lesson))
    converter.lesson = result.lesson
    converter.autograde_preprocessors = [
        step if preprocessor is Execute else preprocessor for preprocessor in converter.autograde_preprocessors
    ]
    converter.force = True
    heard = _Heard()
    converter.log = heard.logger
    directory.assignment_id, directory.student_id = result.lesson, student
    ignored = directory.ignore
    # nbgrader copies whatever else was handed in, and would follow a link out of the folder.
    directory.ignore = [*ignored, *links(course.submission(student, result.lesson))]
    try:
        with contextlib.chdir(course.root), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader 0.9.6 makes SQLAlchemy warn about nbgrader's own code
            converter.start()
    except (NbGraderException, OSError) as error:
        raise GraderError(heard.last() or str(error)) from error
    finally:
        directory.student_id, directory.ignore = "*", ignored
    write_page(course, student, result.lesson, page(result, student))


def write_failure(course: Course, student: str, lesson: str, message: str) -> None:
    """Tells a learner why nothing could be graded. The gradebook stays as it is."""
    write_page(course, student, lesson, failure_page(lesson, student, message))


def write_page(course: Course, student: str, lesson: str, text: str) -> None:
    """Writes a feedback page."""
    path = course.feedback(student, lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def links(folder: Path) -> list[str]:
    """The names of all links in a submission, at any depth."""
    return sorted({path.name for path in folder.rglob("*") if path.is_symlink()})


class _Heard(logging.Handler):
    """Keeps nbgrader's errors instead of printing pages of them."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []
        self.logger = logging.Logger("grader.nbgrader")
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(record.getMessage())

    def last(self) -> str:
        """The sentence at the heart of the last error: the last line of its traceback."""
        traces = [e for e in self.errors if "Traceback" in e] or self.errors
        return traces[-1].strip().splitlines()[-1] if traces else ""
