"""The one writer to nbgrader's gradebook: an assignment's cells are read once, many submissions are one transaction.

What is written is what `nbgrader autograde` writes (scores, what a person must look at, "No response.", the penalty for
being late), in nbgrader's own tables and with its own plugin for penalties. A run that is killed leaves a
submission either written or not.
"""

import contextlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, ClearHiddenTests
from sqlalchemy import and_, exists, func, insert, or_, select, update
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from cellcheck.errors import GraderError
from cellcheck.gradebook.agreement import Kind, in_source
from cellcheck.gradebook.as_it_stands import Given
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.database import reason
from cellcheck.gradebook.draft import Key
from cellcheck.gradebook.folders import Halt
from cellcheck.running.cells import Cells, SourceCell
from cellcheck.syllabus import CONFIGURATION


@dataclass(frozen=True)
class GradebookEntry:
    """What the gradebook gets of one submission."""

    student: str
    """Whose it is; a student that nbgrader does not know yet is added."""
    timestamp: datetime | None
    """When it was handed in, in UTC, if that is known."""
    scores: Mapping[Key, float | None]
    """Per graded cell its score; None where a person must look."""
    blank: frozenset[Key]
    """The answer cells that are as they were released."""


class _Sheet:
    """What the gradebook knows of one notebook: the ids of its cells by name, and how they were released."""

    def __init__(self, notebook: api.Notebook, source: Mapping[str, Kind], hidden: tuple[str, str]) -> None:
        self.id: str = notebook.id
        self.graded: dict[str, str] = {cell.name: cell.id for cell in [*notebook.grade_cells, *notebook.task_cells]}
        answers = [*notebook.solution_cells, *notebook.task_cells]
        self.commented: dict[str, str] = {cell.name: cell.id for cell in answers}
        points = {cell.name: float(cell.max_score) for cell in [*notebook.grade_cells, *notebook.task_cells]}
        tasks = {cell.name for cell in notebook.task_cells}
        cells = {
            cell.name: SourceCell(
                cell.cell_type,
                cell.locked,
                cell.source,
                cell.checksum,
                points.get(cell.name),
                cell.name in self.commented,
                cell.name in tasks,
                hidden,
                source[cell.name].tags if cell.name in source else None,
            )
            for cell in notebook.source_cells
        }
        self.cells = {name: cells[name] for name in (*(n for n in source if n in cells), *(cells.keys() - {*source}))}


class Book:
    """nbgrader's gradebook, open for one assignment."""

    def __init__(self, course: Course, gradebook: Gradebook, name: str) -> None:
        self._db = gradebook.db
        assignment = gradebook.find_assignment(name)
        self._assignment_id: str = assignment.id
        self._due: datetime | None = assignment.duedate
        source = in_source(course.source(name))
        cleared = ClearHiddenTests(config=course.config)
        hidden = (cleared.begin_test_delimeter, cleared.end_test_delimeter)
        sheets = {n.name: _Sheet(n, source.get(n.name, {}), hidden) for n in assignment.notebooks}
        self._sheets = {name: sheets[name] for name in sorted(sheets) if sheets[name].cells}
        # nbgrader's tables have indexes on a cell (or a notebook) and whose it is, none on whose it is alone. So all
        # queries name the cells (the notebooks) too: else each would look at what the whole class has handed in.
        self._notebook_ids = [sheet.id for sheet in self._sheets.values()]
        self._graded = [cell for sheet in self._sheets.values() for cell in sheet.graded.values()]
        self._commented = [cell for sheet in self._sheets.values() for cell in sheet.commented.values()]
        self.cells: dict[str, Cells] = {name: sheet.cells for name, sheet in self._sheets.items()}
        """Per notebook its cells, in the source's order."""
        try:
            penalties = AssignLatePenalties(config=course.config)
            penalties.init_plugin()
        except Exception as error:  # a plugin may raise anything
            raise GraderError(
                f"nbgrader can't take the plugin for late work that {CONFIGURATION} names: {error}."
            ) from error
        self._plugin = penalties.plugin_inst if penalties.enabled else None
        self._db.rollback()  # nothing is kept open between submissions

    def marks(self, students: Collection[str]) -> dict[str, dict[Key, float | None]]:
        """What stands in the gradebook: for each of these students who has marks, the machine's score of each cell."""
        names = {cell: (title, name) for title, sheet in self._sheets.items() for name, cell in sheet.graded.items()}
        wanted = self._of(students, api.Grade.cell_id, api.Grade.auto_score).join(api.Grade, self._is_of(api.Grade))
        with self._reading():
            rows = self._db.execute(wanted).all()
        by_student: dict[str, dict[Key, float | None]] = {}
        for student, cell, score in rows:
            if cell in names:
                by_student.setdefault(student, {})[names[cell]] = score
        return by_student

    def students(self) -> list[str]:
        """Everyone who has marks."""
        submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
        there = (
            select(api.Grade.id)
            .join(notebook, self._is_of(api.Grade))
            .where(notebook.notebook_id.in_(self._notebook_ids), notebook.assignment_id == submission.id)
            # A learner who was given more time has a submission without marks, before anything is handed in.
            .where(or_(*(column.is_not(None) for column in (api.Grade.auto_score, api.Grade.manual_score))))
        )
        wanted = select(submission.student_id).where(submission.assignment_id == self._assignment_id, exists(there))
        with self._reading():
            return sorted(self._db.scalars(wanted))

    def names(self, student: str) -> tuple[str, ...]:
        """What else a learner is called: by name, by address, by number."""
        table = api.Student
        wanted = select(table.first_name, table.last_name, table.email, table.lms_user_id).where(table.id == student)
        with self._reading():
            row = self._db.execute(wanted).first()
        first, last, *others = (text or "" for text in row or ("", ""))
        return tuple(name for name in (f"{first} {last}".strip(), *others) if name)

    def _is_of(self, table: Any) -> Any:
        """Whether a grade or a comment is of a submitted notebook."""
        cells = self._graded if table is api.Grade else self._commented
        return and_(table.cell_id.in_(cells), table.notebook_id == api.SubmittedNotebook.id)

    def _of(self, students: Collection[str], *columns: Any) -> Any:
        """A query for something of the submitted notebooks of these students."""
        submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
        # A folder's name may be something that no database takes.
        there = [student for student in students if student == student.encode("utf-8", "replace").decode()]
        return (
            select(submission.student_id, *columns)
            .join(notebook, and_(notebook.notebook_id.in_(self._notebook_ids), notebook.assignment_id == submission.id))
            .where(submission.assignment_id == self._assignment_id, submission.student_id.in_(there))
        )

    def given(self, students: Collection[str]) -> dict[str, dict[Key, Given]]:
        """What people gave for the cells of each of these students, and what waits for them."""
        grade, comment = api.Grade, api.Comment
        columns = (grade.cell_id, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
        grades = self._of(students, *columns).join(grade, self._is_of(grade))
        texts = self._of(students, comment.cell_id, comment.manual_comment).join(comment, self._is_of(comment))
        with self._reading():
            rows = {(row.student_id, row.cell_id): row for row in self._db.execute(grades)}
            comments = {(row.student_id, row.cell_id): row.manual_comment for row in self._db.execute(texts)}
        cells = [
            ((title, name), sheet.graded.get(name, ""), sheet.commented.get(name, ""))
            for title, sheet in self._sheets.items()
            for name in sheet.cells
        ]
        by_student: dict[str, dict[Key, Given]] = {}
        for student in students:
            given = by_student.setdefault(student, {})
            for key, graded, commented in cells:
                row = rows.get((student, graded))
                text = comments.get((student, commented)) or ""
                if row is not None:
                    extra = float(row.extra_credit or 0.0)
                    given[key] = Given(row.manual_score, extra, bool(row.needs_manual_grade), text, row.auto_score)
                elif text:
                    given[key] = Given(comment=text)
        return by_student

    def penalties(self, students: Collection[str]) -> dict[str, dict[str, float | None]]:
        """The penalties for being late that stand in the gradebook: for each student, and each notebook by its id."""
        notebook = api.SubmittedNotebook
        by_student: dict[str, dict[str, float | None]] = {}
        with self._reading():
            for row in self._db.execute(self._of(students, notebook.id, notebook.late_submission_penalty)):
                by_student.setdefault(row.student_id, {})[row.id] = row.late_submission_penalty
        return by_student

    def penalties_due(self, students: Collection[str]) -> dict[str, dict[str, float | None]]:
        """As `penalties`, worked out again: the due date, an extension or the rule may have changed since."""
        penalties = self.penalties(students)
        with self._reading():
            submissions = self._submissions(students)
            return {
                student: {notebook: self._penalty(submissions[student], notebook) for notebook in notebooks}
                for student, notebooks in penalties.items()
            }

    def write_penalties(self, penalties: Mapping[str, float | None]) -> None:
        """Writes penalties by notebook, such as `penalties_due` has found.

        Raises:
            GraderError: as `write`.
        """
        with self._transaction():
            self._write_penalties(penalties)

    def write(self, entries: Sequence[GradebookEntry]) -> None:
        """Writes submissions, all of them or none.

        Raises:
            GraderError: when the database does not take them; it then holds what it held before. A `Halt` when it would
                take nobody's.
        """
        with self._transaction():
            self._write(entries)

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

    def _write(self, entries: Sequence[GradebookEntry]) -> None:
        by_student = {entry.student: entry for entry in entries}
        table = api.Student
        enrolled = set(self._db.scalars(select(table.id).where(table.id.in_(list(by_student)))))
        self._insert(table, [{"id": student} for student in by_student if student not in enrolled])
        notebooks = self._notebooks(self._write_submissions(by_student))
        self._write_scores(by_student, notebooks)
        self._write_comments(by_student, notebooks)
        submissions = self._submissions(by_student)
        self._write_penalties(
            {notebook: self._penalty(submissions[student], notebook) for (student, _), notebook in notebooks.items()}
        )

    def _write_submissions(self, entries: Mapping[str, GradebookEntry]) -> dict[str, str]:
        """The ids of the students' submissions, made where there were none."""
        table = api.SubmittedAssignment
        there = {student: row.id for student, row in self._submissions(entries).items()}
        new = [
            {
                "id": api.new_uuid(),
                "assignment_id": self._assignment_id,
                "student_id": student,
                "timestamp": entry.timestamp,
            }
            for student, entry in entries.items()
            if student not in there
        ]
        self._insert(table, new)
        changed = [
            {"id": notebook, "timestamp": entries[student].timestamp}
            for student, notebook in there.items()
            if entries[student].timestamp is not None
        ]
        self._update(table, changed)
        return there | {row["student_id"]: row["id"] for row in new}

    def _submissions(self, students: Collection[str]) -> dict[str, Any]:
        """For each of these students with a submission: its id, timestamp and extension."""
        table = api.SubmittedAssignment
        wanted = select(table.student_id, table.id, table.timestamp, table.extension).where(
            table.assignment_id == self._assignment_id, table.student_id.in_(list(students))
        )
        return {row.student_id: row for row in self._db.execute(wanted)}

    def _notebooks(self, submissions: Mapping[str, str]) -> dict[Key, str]:
        """The ids of submitted notebooks by student and title, made where there were none."""
        table = api.SubmittedNotebook
        query = select(table.id, table.assignment_id, table.notebook_id).where(
            table.notebook_id.in_(self._notebook_ids), table.assignment_id.in_(list(submissions.values()))
        )
        there = {(row.assignment_id, row.notebook_id): str(row.id) for row in self._db.execute(query)}
        notebooks: dict[Key, str] = {}
        new = []
        for student, submission in submissions.items():
            for title, sheet in self._sheets.items():
                ident = there.get((submission, sheet.id))
                notebooks[student, title] = ident or api.new_uuid()
                if ident is None:
                    row = {"id": notebooks[student, title], "assignment_id": submission, "notebook_id": sheet.id}
                    new.append(row | {"flagged": False})
        self._insert(table, new)
        return notebooks

    def _write_scores(self, entries: Mapping[str, GradebookEntry], notebooks: Mapping[Key, str]) -> None:
        table = api.Grade
        query = select(table.id, table.notebook_id, table.cell_id, table.manual_score).where(
            table.cell_id.in_(self._graded), table.notebook_id.in_(list(notebooks.values()))
        )
        there = {(row.notebook_id, row.cell_id): row for row in self._db.execute(query)}
        new, changed = [], []
        for (student, title), notebook in notebooks.items():
            scores = entries[student].scores
            for name, cell in self._sheets[title].graded.items():
                row, score = there.get((notebook, cell)), scores.get((title, name))
                by_hand = row is not None and row.manual_score is not None
                values = {"auto_score": score, "needs_manual_grade": by_hand or score is None}
                if row is None:
                    new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
                elif (title, name) in scores:
                    changed.append({"id": row.id, **values})
        self._insert(table, new)
        self._update(table, changed)

    def _write_comments(self, entries: Mapping[str, GradebookEntry], notebooks: Mapping[Key, str]) -> None:
        table = api.Comment
        query = select(table.id, table.notebook_id, table.cell_id).where(
            table.cell_id.in_(self._commented), table.notebook_id.in_(list(notebooks.values()))
        )
        there = {(row.notebook_id, row.cell_id): row.id for row in self._db.execute(query)}
        new, changed = [], []
        for (student, title), notebook in notebooks.items():
            for name, cell in self._sheets[title].commented.items():
                values = {"auto_comment": "No response." if (title, name) in entries[student].blank else None}
                if (notebook, cell) in there:
                    changed.append({"id": there[notebook, cell], **values})
                else:
                    new.append({"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values})
        self._insert(table, new)
        self._update(table, changed)

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._db.execute(insert(table), rows)

    def _update(self, table: Any, rows: list[dict[str, Any]]) -> None:
        """Sets what stands in the rows, each of which is found by its id."""
        if rows:
            self._db.execute(update(table), rows)

    def _penalty(self, submission: Any, notebook: str) -> float | None:
        """What nbgrader's plugin takes off a notebook's points; None where it isn't late."""
        if self._plugin is None or self._due is None or submission.timestamp is None:
            return None
        due = self._due if submission.extension is None else self._due + submission.extension
        late = max(0.0, (submission.timestamp - due).total_seconds())
        if not late:
            return None
        earned = self._earned(notebook)
        try:
            penalty = self._plugin.late_submission_penalty(submission.student_id, earned, late)
            taken = None if penalty is None else float(penalty)
            if taken is not None and math.isnan(taken):
                raise ValueError("a penalty that isn't a number")
        except Exception as error:  # a plugin may raise anything
            raise GraderError(
                f"The plugin for late work that {CONFIGURATION} names stops with {type(error).__name__}: {error}. Mend "
                "it, and grade again with --resume."
            ) from error
        return None if taken is None else min(max(taken, 0.0), earned)

    def _earned(self, notebook: str) -> float:
        """A notebook's points as nbgrader adds them up: a person's go before ours."""
        table = api.Grade
        points = func.coalesce(table.manual_score, table.auto_score, 0.0) + func.coalesce(table.extra_credit, 0.0)
        wanted = select(func.sum(points)).where(table.cell_id.in_(self._graded), table.notebook_id == notebook)
        return float(self._db.scalar(wanted) or 0.0)

    def _write_penalties(self, penalties: Mapping[str, float | None]) -> None:
        rows = [{"id": notebook, "late_submission_penalty": penalty} for notebook, penalty in penalties.items()]
        self._update(api.SubmittedNotebook, rows)
