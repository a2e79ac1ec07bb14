"""`grader export`: marks from nbgrader's gradebook, in the columns that other systems read.

Where those columns are documented:
- Canvas, "How do I import grades in the Gradebook?" (Canvas Instructor Guide, community.canvaslms.com): Student, ID,
  SIS User ID, SIS Login ID, Section, then assignments; a row "Points Possible" comes first. Canvas's own
  `GradebookImporter` finds a learner by ID, else SIS User ID, else SIS Login ID, else name, and leaves empty marks.
- Moodle, docs.moodle.org/en/Grade_import: a header of any names; the teacher maps "Email address" or "ID number" to
  the learner, and the mark's column to the grade item.
- Gradescope documents no import of marks. What stands here are the columns of its own export ("Download Grades",
  guides.gradescope.com), so that what reads that reads this.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from nbgrader.api import MissingEntry

from grader.errors import GraderError
from grader.gradebook.course import Course
from grader.plain import cell


@dataclass(frozen=True)
class Mark:
    """A learner's mark for a lesson, as nbgrader's own `export` reckons it."""

    student: str
    first_name: str
    last_name: str
    email: str
    lms_user_id: str
    max_score: float
    score: float | None
    """With what was graded by hand, without the penalty for being late; None where nothing was handed in."""
    penalty: float = 0.0
    submitted: datetime | None = None
    open: bool = False
    """Whether a person must still look at something in it."""

    @property
    def mark(self) -> str:
        """What counts, as a number to read; empty where nothing was handed in."""
        return "" if self.score is None else number(max(0.0, self.score - self.penalty))


def marks(course: Course, lesson: str) -> list[Mark]:
    """The marks of everyone in the gradebook, by name.

    Raises:
        GraderError: when the gradebook does not know the lesson.
    """
    with course.gradebook() as gradebook:
        try:
            assignment = gradebook.find_assignment(lesson)
        except MissingEntry:
            raise GraderError(f"The gradebook has no {lesson} yet: run grader autograde {lesson} first.") from None
        made = {submission.student_id: submission for submission in assignment.submissions}
        full = float(assignment.max_score)
        found = []
        for student in gradebook.students:
            known = (student.first_name, student.last_name, student.email, student.lms_user_id)
            first, last, email, lms = (str(text or "") for text in known)
            mark = Mark(student.id, first, last, email, lms, full, None)
            submission = made.get(student.id)
            if submission is not None:
                mark = replace(
                    mark,
                    score=float(submission.score),
                    penalty=float(submission.late_submission_penalty or 0.0),
                    submitted=submission.timestamp,
                    open=bool(submission.needs_manual_grade),
                )
            found.append(mark)
    return sorted(found, key=lambda mark: (mark.last_name, mark.first_name, mark.student))


def due_date(course: Course, lesson: str) -> datetime | None:
    """When the assignment is due, in UTC, where nbgrader knows."""
    with course.gradebook() as gradebook:
        due: datetime | None = gradebook.find_assignment(lesson).duedate
        return due


def number(value: float) -> str:
    """A mark without needless zeros, to the hundredth as Canvas keeps it: 7, 7.5, 6.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def as_csv(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """Everything, a line a learner."""
    header = ["student", "first_name", "last_name", "email", "lesson", "mark", "max_score", "late_penalty"]
    return [
        [*header, "submitted", "to_grade_by_hand"],
        *(
            [
                *(mark.student, mark.first_name, mark.last_name, mark.email, column, mark.mark),
                *(number(mark.max_score), number(mark.penalty) if mark.score is not None else ""),
                f"{mark.submitted:%Y-%m-%d %H:%M:%S} UTC" if mark.submitted else "",
                "yes" if mark.open else "",
            ]
            for mark in marks
        ),
    ]


def for_canvas(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """Canvas's gradebook; `column` is the assignment's name there, "Name (12345)" for one that exists."""
    full = number(marks[0].max_score) if marks else ""
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]]
    rows.append(["    Points Possible", "", "", "", "", full])
    for mark in marks:
        name = f"{mark.last_name}, {mark.first_name}" if mark.last_name and mark.first_name else mark.last_name
        rows.append([name or mark.student, mark.lms_user_id, "", mark.student, "", mark.mark])
    return rows


def for_moodle(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """Moodle's grade import; the teacher maps the columns."""
    rows = [["First name", "Last name", "ID number", "Email address", column]]
    rows += [[mark.first_name, mark.last_name, mark.student, mark.email, mark.mark] for mark in marks]
    return rows


def for_gradescope(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """The columns of Gradescope's own export; it has none for the lesson's name, and so `column` is not used."""
    rows = [["First Name", "Last Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission Time"]]
    for mark in marks:
        status = "Missing" if mark.score is None else "Ungraded" if mark.open else "Graded"
        time = f"{mark.submitted:%Y-%m-%d %H:%M:%S} +0000" if mark.submitted else ""
        person = [mark.first_name, mark.last_name, mark.student, mark.email]
        rows.append([*person, mark.mark, number(mark.max_score), status, time])
    return rows


FORMATS: dict[str, Callable[[Sequence[Mark], str], list[list[str]]]] = {
    "csv": as_csv,
    "canvas": for_canvas,
    "moodle": for_moodle,
    "gradescope": for_gradescope,
}


def text(marks: Sequence[Mark], to: str, column: str) -> str:
    """The file for one system."""
    made = io.StringIO()
    rows = FORMATS[to](marks, column)
    csv.writer(made, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return made.getvalue()
