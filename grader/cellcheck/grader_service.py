"""Grading for TU Wien's grader-service: an executor that asks this engine, where the service would run the notebook.

    c.RequestHandlerConfig.autograde_executor_class = "cellcheck.grader_service.EngineExecutor"
    c.EngineExecutor.seed = 20261201

What the service expects is left where it expects it: the graded notebooks with the cards in them, from which it makes
the feedback, and the marks in `gradebook.json`. Written for grader-service 0.12.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader_service.autograding.local_grader import LocalAutogradeExecutor
from grader_service.convert.gradebook.gradebook import Gradebook, MissingEntry
from traitlets import Bool, Int

from cellcheck.api import get_ready, hidden_seed
from cellcheck.checking.cards import out_of
from cellcheck.checking.judge import PASSED
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.gradebook.draft import Draft, draft
from cellcheck.running.assignment import SKIPPED, Assignment
from cellcheck.running.cells import SourceCell
from cellcheck.running.grade import grade_submission
from cellcheck.running.intake import lesson_in, read_file
from cellcheck.running.protection import check_walls
from cellcheck.running.result import Result
from cellcheck.running.setting import setting_of
from cellcheck.running.zygotes import in_sight
from cellcheck.syllabus import EXPERIMENT, UnknownLesson, load_lesson

GRADEBOOK = "gradebook.json"
NO_RESPONSE = "No response."
"""The service's own words for an answer that is as it was released."""


class EngineExecutor(LocalAutogradeExecutor):  # type: ignore[misc]
    """Grades the notebooks of an assignment, each as the lesson that it is called after, else by its own tests."""

    seed = Int(
        None,
        allow_none=True,
        min=0,
        help="What the hidden cases are drawn from: secret, and the same for a class. Without it, each submission has "
        "cases of its own.",
    ).tag(config=True)
    require_sandbox = Bool(True, help="Whether to grade nothing where a wall is missing.").tag(config=True)

    def _run(self) -> None:
        folder, out = Path(self.input_path), Path(self.output_path)
        seed = hidden_seed() if self.seed is None else self.seed
        lines = []
        with Gradebook(str(out / GRADEBOOK)) as book:
            for title in sorted(book.model.notebook_id_set):
                file = folder / f"{title}.ipynb"
                if not file.exists():
                    cells = book.find_notebook(title).graded_cells
                    _write_marks(book, title, {cell.name: 0.0 for cell in cells})
                    lines.append(f"{title}: nothing was handed in.")
                    continue
                result, autograded = self._grade(_released(book.find_notebook(title)), read_file(file), seed)
                write_whole(out / file.name, autograded.notebooks[title])
                _write_marks(book, title, {name: score for (_, name), score in autograded.scores.items()})
                _write_comments(book, title, {name for _, name in autograded.blank})
                lines.append(_in_words(title, result))
        self.grading_logs = "\n".join(lines)

    def _grade(self, assignment: Assignment, data: bytes, seed: int) -> tuple[Result, Draft]:
        get_ready(1)
        lesson, hidden = assignment.lesson, in_sight([])
        check_walls(setting_of(lesson.name if lesson else None, hidden), self.require_sandbox)
        if lesson is not None:
            its_own = lesson_in(data, lesson.name).name
            if its_own != lesson.name:
                raise GraderError(f"This is a notebook of {its_own}, not of {lesson.name}.")
        result = grade_submission({assignment.name: data}, assignment, seed, hidden=hidden)
        return result, draft(assignment, {assignment.name: data}, result)


def _released(notebook: Any) -> Assignment:
    """A notebook as the service released it, cell by cell."""
    points = {cell.name: float(cell.max_score) for cell in notebook.graded_cells}
    answers, tasks = notebook.solution_cells_dict.keys(), notebook.task_cells_dict.keys()
    cells = {
        one.name: SourceCell(
            one.cell_type,
            one.locked,
            one.source,
            one.checksum,
            points.get(one.name),
            one.name in answers or one.name in tasks,
            one.name in tasks,
        )
        for one in notebook.source_cells
    }
    try:
        lesson = load_lesson(notebook.name)
    except UnknownLesson:
        lesson = None
    assignment = Assignment(notebook.name, {notebook.name: cells}, lesson, skipped=EXPERIMENT if lesson else SKIPPED)
    if assignment.asks_for_checks():
        raise GraderError(f"{notebook.name} uses check, but it is called like no lesson of a course that is installed.")
    return assignment


def _write_marks(book: Any, lesson: str, scores: Mapping[str, float | None]) -> None:
    """As the service's own SaveAutoGrades does; a mark that somebody gave by hand stands, and is looked at again."""
    for cell, score in scores.items():
        grade = book.find_grade(cell, lesson)
        grade.auto_score = score
        grade.needs_manual_grade = grade.manual_score is not None or score is None
        try:
            book.add_grade(cell, lesson, grade)
        except MissingEntry as error:
            raise GraderError(f"The service knows no cell {cell} of {lesson}: release the assignment again.") from error


def _write_comments(book: Any, lesson: str, blank: set[str]) -> None:
    for cell in book.find_notebook(lesson).solution_cells_dict:
        comment = book.find_comment(cell, lesson)
        comment.auto_comment = NO_RESPONSE if cell in blank else None
        book.add_comment(cell, lesson, comment)


def _in_words(lesson: str, result: Result) -> str:
    """What the service shows as the log: what learners read on their cards, and nothing of the hidden cases."""
    lines = [f"{lesson}: {out_of(result.score, result.max_score)}."]
    lines += [f"{one.symbol}: {' '.join(one.message.split())}" for one in result.verdicts if one.status != PASSED]
    lines += [f"{test.name}: {test.message}" for test in result.own_tests if test.status != PASSED]
    return "\n  ".join(lines)
