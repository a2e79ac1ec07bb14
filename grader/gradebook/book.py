"""The one writer to nbgrader's gradebook: an assignment's cells are read once, each submission is one transaction.

What is written is what `nbgrader autograde` writes (scores, what a person must look at, "No response.", the penalty for
being late), in nbgrader's own tables and with its own plugin for penalties. A run that is killed leaves a
submission either written or not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from grader.errors import GraderError
from grader.gradebook.assignment import in_source
from grader.gradebook.course import Course
from grader.gradebook.database import reason
from grader.gradebook.files import Halt
from grader.gradebook.standing import Given
from grader.running.assignment import Cells, SourceCell

Key = tuple[str, str]
"""A cell: its notebook's name, and its own."""


class _Sheet:
    """What the gradebook knows of one notebook: the ids of its cells by name, and how they were released."""

    def __init__(self, notebook: api.Notebook, order: Sequence[str]) -> None:
        self.id: str = notebook.id
        self.graded: dict[str, str] = {cell.name: cell.id for cell in [*notebook.grade_cells, *notebook.task_cells]}
        answers = [*notebook.solution_cells, *notebook.task_cells]
        self.commented: dict[str, str] = {cell.name: cell.id for cell in answers}
        points = {cell.name: float(cell.max_score) for cell in [*notebook.grade_cells, *notebook.task_cells]}
        tasks = {cell.name for cell in notebook.task_cells}
        found = {
            cell.name: SourceCell(
                cell.cell_type,
                cell.locked,
                cell.source,
                cell.checksum,
                points.get(cell.name),
                cell.name in self.commented,
                cell.name in tasks,
            )
            for cell in notebook.source_cells
        }
        self.cells = {name: found[name] for name in (*(n for n in order if n in found), *(found.keys() - set(order)))}


class Book:
    """nbgrader's gradebook, open for one assignment."""

    def __init__(self, course: Course, gradebook: Gradebook, name: str) -> None:
        self._db = gradebook.db
        assignment = gradebook.find_assignment(name)
        self._assignment_id: str = assignment.id
        self._due: datetime | None = assignment.duedate
        order = in_source(course.source(name))
        sheets = {n.name: _Sheet(n, list(order.get(n.name, ()))) for n in assignment.notebooks}
        self._sheets = {name: sheets[name] for name in sorted(sheets) if sheets[name].cells}
        self.cells: dict[str, Cells] = {name: sheet.cells for name, sheet in self._sheets.items()}
        """Per notebook its cells, in the source's order."""
        penalties = AssignLatePenalties(config=course.config)
        penalties.init_plugin()
        self._plugin = penalties.plugin_inst
        self._db.rollback()  # nothing is kept open between submissions

    def marks(self) -> dict[str, dict[Key, float | None]]:
        """What stands in the gradebook: per student the machine's score of each graded cell."""
        names = {cell: (title, name) for title, sheet in self._sheets.items() for name, cell in sheet.graded.items()}
        wanted = (
            select(api.SubmittedAssignment.student_id, api.Grade.cell_id, api.Grade.auto_score)
            .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
            .join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
            .where(api.SubmittedAssignment.assignment_id == self._assignment_id)
        )
        with self._reading():
            rows = self._db.execute(wanted).all()
        found: dict[str, dict[Key, float | None]] = {}
        for student, cell, score in rows:
            if cell in names:
                found.setdefault(student, {})[names[cell]] = score
        return found

    def given(self, student: str) -> dict[Key, Given]:
        """What people gave for a student's cells, and what waits for them."""
        grade, comment, notebook = api.Grade, api.Comment, api.SubmittedNotebook
        of_student = (api.SubmittedAssignment.assignment_id == self._assignment_id) & (
            api.SubmittedAssignment.student_id == student
        )
        there = select(notebook.id).join(api.SubmittedAssignment, notebook.assignment_id == api.SubmittedAssignment.id)
        columns = (grade.cell_id, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
        with self._reading():
            ids = list(self._db.scalars(there.where(of_student)))
            grades = select(*columns).where(grade.notebook_id.in_(ids))
            rows = {row.cell_id: row for row in self._db.execute(grades)}
            texts = select(comment.cell_id, comment.manual_comment).where(comment.notebook_id.in_(ids))
            said = {row.cell_id: row.manual_comment for row in self._db.execute(texts)}
        found: dict[Key, Given] = {}
        for title, sheet in self._sheets.items():
            for name in sheet.cells:
                row = rows.get(sheet.graded.get(name, ""))
                text = said.get(sheet.commented.get(name, "")) or ""
                if row is not None:
                    extra = float(row.extra_credit or 0.0)
                    given = Given(row.manual_score, extra, bool(row.needs_manual_grade), text, row.auto_score)
                    found[title, name] = given
                elif text:
                    found[title, name] = Given(comment=text)
        return found

    def penalty(self, student: str) -> float:
        """The points that a student loses for being late."""
        return sum(penalty or 0.0 for penalty in self.penalties(student).values())

    def penalties(self, student: str) -> dict[str, float | None]:
        """The penalty for being late that stands in the gradebook, for each notebook of a student's, by its id."""
        notebook, submission = api.SubmittedNotebook, api.SubmittedAssignment
        of_student = (submission.assignment_id == self._assignment_id) & (submission.student_id == student)
        rows = select(notebook.id, notebook.late_submission_penalty).join(
            submission, notebook.assignment_id == submission.id
        )
        with self._reading():
            return {row.id: row.late_submission_penalty for row in self._db.execute(rows.where(of_student))}

    def penalties_due(self, student: str) -> dict[str, float | None]:
        """As `penalties`, worked out again: the due date, an extension or the rule may have changed since."""
        notebooks = self.penalties(student)
        with self._reading():
            submission = self._submission(student, None)
            return {notebook: self._penalty(student, submission, notebook) for notebook in notebooks}

    def write_penalties(self, penalties: Mapping[str, float | None]) -> None:
        """Writes what `penalties_due` has found.

        Raises:
            GraderError: as `write`.
        """
        with self._transaction():
            for notebook, penalty in penalties.items():
                self._write_penalty(notebook, penalty)

    def write(
        self, student: str, timestamp: datetime | None, scores: Mapping[Key, float | None], blank: frozenset[Key]
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
        with self._transaction():
            self._write(student, timestamp, scores, blank)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What is read in it keeps nothing open."""
        try:
            yield
        except OperationalError as error:
            raise Halt(f"The gradebook can't be read: {reason(error)}") from error
        finally:
            self._db.rollback()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """What is done in it is written whole, or not at all."""
        try:
            yield
            self._db.commit()
        except OperationalError as error:  # full, locked, read-only, gone: so it is for the next one too
            raise Halt(f"The gradebook can't be written: {reason(error)}") from error
        except SQLAlchemyError as error:
            raise GraderError(f"the gradebook can't be written: {reason(error)}") from error
        finally:
            self._db.rollback()
            self._db.expunge_all()  # memory stays flat however many there are

    def _write(
        self, student: str, timestamp: datetime | None, scores: Mapping[Key, float | None], blank: frozenset[Key]
    ) -> None:
        if self._db.execute(select(api.Student.id).where(api.Student.id == student)).first() is None:
            self._db.execute(insert(api.Student).values(id=student))
        submission = self._submission(student, timestamp)
        for title, sheet in self._sheets.items():
            notebook = self._notebook(submission.id, sheet.id)
            self._write_scores(notebook, sheet, {name: s for (t, name), s in scores.items() if t == title})
            self._write_comments(notebook, sheet, {name for t, name in blank if t == title})
            self._write_penalty(notebook, self._penalty(student, submission, notebook))

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

    def _notebook(self, submission_id: str, notebook_id: str) -> str:
        table = api.SubmittedNotebook
        found = select(table.id).where(table.assignment_id == submission_id, table.notebook_id == notebook_id)
        row = self._db.execute(found).first()
        if row is not None:
            return str(row.id)
        made: str = api.new_uuid()
        values = {"id": made, "assignment_id": submission_id, "notebook_id": notebook_id, "flagged": False}
        self._db.execute(insert(table).values(**values))
        return made

    def _write_scores(self, notebook: str, sheet: _Sheet, scores: Mapping[str, float | None]) -> None:
        table = api.Grade
        columns = (table.id, table.cell_id, table.manual_score)
        there = {row.cell_id: row for row in self._db.execute(select(*columns).where(table.notebook_id == notebook))}
        new, changed = [], []
        for name, cell in sheet.graded.items():
            row, score = there.get(cell), scores.get(name)
            by_hand = row is not None and row.manual_score is not None
            values = {"auto_score": score, "needs_manual_grade": by_hand or score is None}
            if row is None:
                new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
            elif name in scores:
                changed.append({"id": row.id, **values})
        if new:
            self._db.execute(insert(table), new)
        if changed:
            self._db.execute(update(table), changed)

    def _write_comments(self, notebook: str, sheet: _Sheet, blank: set[str]) -> None:
        table = api.Comment
        found = select(table.id, table.cell_id).where(table.notebook_id == notebook)
        there = {row.cell_id: row.id for row in self._db.execute(found)}
        new, changed = [], []
        for name, cell in sheet.commented.items():
            values = {"auto_comment": "No response." if name in blank else None}
            if cell in there:
                changed.append({"id": there[cell], **values})
            else:
                new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
        if new:
            self._db.execute(insert(table), new)
        if changed:
            self._db.execute(update(table), changed)

    def _penalty(self, student: str, submission: Any, notebook: str) -> float | None:
        """What nbgrader's plugin takes off a notebook's points; None where it isn't late."""
        if self._due is None or submission.timestamp is None:
            return None
        due = self._due if submission.extension is None else self._due + submission.extension
        late = max(0.0, (submission.timestamp - due).total_seconds())
        if not late:
            return None
        earned = self._earned(notebook)
        penalty = self._plugin.late_submission_penalty(student, earned, late)
        return None if penalty is None else float(min(max(penalty, 0), earned))

    def _earned(self, notebook: str) -> float:
        """A notebook's points as nbgrader adds them up: a person's go before ours."""
        table = api.Grade
        points = func.coalesce(table.manual_score, table.auto_score, 0.0) + func.coalesce(table.extra_credit, 0.0)
        return float(self._db.scalar(select(func.sum(points)).where(table.notebook_id == notebook)) or 0.0)

    def _write_penalty(self, notebook: str, penalty: float | None) -> None:
        table = api.SubmittedNotebook
        self._db.execute(update(table).where(table.id == notebook).values(late_submission_penalty=penalty))
