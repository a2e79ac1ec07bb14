"""The one writer to nbgrader's gradebook: a lesson's cells are read once, each submission is one transaction.

What is written is what `nbgrader autograde` writes (scores, what a person must look at, "No response.", the penalty for
being late), in nbgrader's own tables and with its own plugin for penalties. A run that is killed leaves a
submission either written or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from grader.errors import GraderError
from grader.gradebook.course import Course, reason
from grader.gradebook.files import Halt


@dataclass(frozen=True)
class SourceCell:
    """A cell as it was released: what nbgrader keeps of it."""

    cell_type: str
    locked: bool
    source: str
    checksum: str
    points: float | None
    """None where it earns no points."""
    answer: bool
    """Whether the learner writes into it."""


class Book:
    """nbgrader's gradebook, open for one lesson."""

    def __init__(self, course: Course, gradebook: Gradebook, lesson: str) -> None:
        self._db = gradebook.db
        notebook = gradebook.find_notebook(lesson, lesson)
        self._notebook_id: str = notebook.id
        self._assignment_id: str = notebook.assignment.id
        self._due: datetime | None = notebook.assignment.duedate
        self._graded: dict[str, str] = {cell.name: cell.id for cell in [*notebook.grade_cells, *notebook.task_cells]}
        answers = [*notebook.solution_cells, *notebook.task_cells]
        self._commented: dict[str, str] = {cell.name: cell.id for cell in answers}
        points = {cell.name: float(cell.max_score) for cell in [*notebook.grade_cells, *notebook.task_cells]}
        self.cells = {
            cell.name: SourceCell(
                cell.cell_type,
                cell.locked,
                cell.source,
                cell.checksum,
                points.get(cell.name),
                cell.name in self._commented,
            )
            for cell in notebook.source_cells
        }
        penalties = AssignLatePenalties(config=course.config)
        penalties.init_plugin()
        self._plugin = penalties.plugin_inst
        self._db.rollback()  # nothing is kept open between submissions

    def marks(self) -> dict[str, dict[str, float | None]]:
        """What stands in the gradebook: per student the machine's score of each graded cell, by the cell's name."""
        names = {cell: name for name, cell in self._graded.items()}
        rows = self._db.execute(
            select(api.SubmittedAssignment.student_id, api.Grade.cell_id, api.Grade.auto_score)
            .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
            .join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
            .where(api.SubmittedNotebook.notebook_id == self._notebook_id)
        ).all()
        self._db.rollback()
        found: dict[str, dict[str, float | None]] = {}
        for student, cell, score in rows:
            found.setdefault(student, {})[names[cell]] = score
        return found

    def write(
        self, student: str, timestamp: datetime | None, scores: Mapping[str, float | None], blank: frozenset[str]
    ) -> None:
        """Writes one submission.

        Args:
            student: whose it is; a student that nbgrader does not know yet is added.
            timestamp: when it was handed in, in UTC, if that is known.
            scores: per graded cell its score; None where a person must look.
            blank: the answer cells that are as they were released.

        Raises:
            GraderError: when the database does not take it; it then holds what it held before. A `Halt` when it would
                take nobody's.
        """
        try:
            self._write(student, timestamp, scores, blank)
            self._db.commit()
        except OperationalError as error:  # full, locked, read-only, gone: so it is for the next one too
            raise Halt(f"The gradebook can't be written: {reason(error)}") from error
        except SQLAlchemyError as error:
            raise GraderError(f"the gradebook can't be written: {reason(error)}") from error
        finally:
            self._db.rollback()
            self._db.expunge_all()  # memory stays flat however many there are

    def _write(
        self, student: str, timestamp: datetime | None, scores: Mapping[str, float | None], blank: frozenset[str]
    ) -> None:
        if self._db.execute(select(api.Student.id).where(api.Student.id == student)).first() is None:
            self._db.execute(insert(api.Student).values(id=student))
        submission = self._submission(student, timestamp)
        notebook = self._notebook(submission.id)
        earned = self._write_scores(notebook, scores)
        self._write_comments(notebook, blank)
        self._write_penalty(student, submission, notebook, earned)

    def _submission(self, student: str, timestamp: datetime | None) -> Any:
        table = api.SubmittedAssignment
        found = select(table.id, table.timestamp, table.extension).where(
            table.assignment_id == self._assignment_id, table.student_id == student
        )
        if self._db.execute(found).first() is None:
            values = {"id": api.new_uuid(), "assignment_id": self._assignment_id, "student_id": student}
            self._db.execute(insert(table).values(**values, timestamp=timestamp))
        elif timestamp is not None:
            here = (table.assignment_id == self._assignment_id) & (table.student_id == student)
            self._db.execute(update(table).where(here).values(timestamp=timestamp))
        return self._db.execute(found).one()

    def _notebook(self, submission_id: str) -> str:
        table = api.SubmittedNotebook
        found = select(table.id).where(table.assignment_id == submission_id, table.notebook_id == self._notebook_id)
        row = self._db.execute(found).first()
        if row is not None:
            return str(row.id)
        made: str = api.new_uuid()
        values = {"id": made, "assignment_id": submission_id, "notebook_id": self._notebook_id, "flagged": False}
        self._db.execute(insert(table).values(**values))
        return made

    def _write_scores(self, notebook: str, scores: Mapping[str, float | None]) -> float:
        """Writes the scores; returns their sum as nbgrader reckons it: a person's score goes before ours."""
        table = api.Grade
        columns = (table.id, table.cell_id, table.auto_score, table.manual_score, table.extra_credit)
        there = {row.cell_id: row for row in self._db.execute(select(*columns).where(table.notebook_id == notebook))}
        new, changed, total = [], [], 0.0
        for name, cell in self._graded.items():
            row = there.get(cell)
            manual = row.manual_score if row is not None else None
            score = scores.get(name, row.auto_score if row is not None else None)
            total += (manual if manual is not None else score or 0.0) + (row.extra_credit or 0.0 if row else 0.0)
            values = {"auto_score": score, "needs_manual_grade": manual is not None or score is None}
            if row is None:
                new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
            elif name in scores:
                changed.append({"id": row.id, **values})
        if new:
            self._db.execute(insert(table), new)
        if changed:
            self._db.execute(update(table), changed)
        return total

    def _write_comments(self, notebook: str, blank: frozenset[str]) -> None:
        table = api.Comment
        found = select(table.id, table.cell_id).where(table.notebook_id == notebook)
        there = {row.cell_id: row.id for row in self._db.execute(found)}
        new, changed = [], []
        for name, cell in self._commented.items():
            values = {"auto_comment": "No response." if name in blank else None}
            if cell in there:
                changed.append({"id": there[cell], **values})
            else:
                new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
        if new:
            self._db.execute(insert(table), new)
        if changed:
            self._db.execute(update(table), changed)

    def _write_penalty(self, student: str, submission: Any, notebook: str, earned: float) -> None:
        penalty = None
        if self._due is not None and submission.timestamp is not None:
            due = self._due if submission.extension is None else self._due + submission.extension
            late = max(0.0, (submission.timestamp - due).total_seconds())
            if late:
                penalty = self._plugin.late_submission_penalty(student, earned, late)
        if penalty is not None:
            penalty = min(max(penalty, 0), earned)
        table = api.SubmittedNotebook
        here = table.id == notebook
        self._db.execute(update(table).where(here).values(late_submission_penalty=penalty))
