"""`cellcheck export`: marks from nbgrader's gradebook, in the columns that other systems read.

Where those columns are documented:
- Canvas, "How do I import grades in the Gradebook?" (Canvas Instructor Guide, community.canvaslms.com): Student, ID,
  SIS User ID, SIS Login ID, Section, then assignments; a row "Points Possible" comes first. Canvas's own
  `GradebookImporter` finds a learner by ID, else SIS User ID, else SIS Login ID, else name, and leaves empty marks.
- Moodle, docs.moodle.org/en/Grade_import: a header of any names; the teacher maps "Email address" or "ID number" to
  the learner, and the mark's column to the grade item. Where the work came from Moodle, the file is a grading worksheet
  as well (`mod/assign/feedback/offline/importgradeslib.php`): that needs the columns "Identifier" (the number in the
  download's names), "Grade" and "Last modified (grade)", and no class list.
- Gradescope documents no import of marks. What stands here are the columns of its own export ("Download Grades",
  guides.gradescope.com), so that what reads that reads this.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nbgrader.api import (
    Assignment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import or_, select

from cellcheck.collecting.names import CANVAS, MOODLE, folder_name
from cellcheck.collecting.placing import record
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.plain import cell


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
    """Whether a person must still look at something in it that earns points."""
    refused: str = ""
    """Why there is no mark, although something was handed in."""
    platform: str = ""
    """Where it was handed in, if that is known."""
    number: str = ""
    """The platform's number of this learner."""
    by_name: bool = False
    """Whether nothing is known of this learner but the name that the platform shows: `student` is made of it."""

    @property
    def mark(self) -> str:
        """What counts, as a number to read; empty where nothing was handed in."""
        return "" if self.score is None else number(max(0.0, self.score - self.penalty))


def marks(course: Course, lesson: str) -> list[Mark]:
    """The marks of everyone in the gradebook, by name.

    Raises:
        GraderError: when the gradebook does not know the lesson.
    """
    submitted = course.submitted_folder()
    entries = {key.rpartition("/")[0]: entry for key, entry in record(submitted).items() if key.endswith(f"/{lesson}")}
    waiting = {student: entry["refused"] for student, entry in entries.items() if "refused" in entry}
    waiting |= dict.fromkeys(course.handed_in(lesson), "It was handed in, and hasn't been graded.")
    with course.gradebook() as gradebook:
        try:
            assignment = gradebook.find_assignment(lesson)
        except MissingEntry:
            raise GraderError(f"The gradebook has no {lesson} yet: run cellcheck autograde {lesson} first.") from None
        graded = _graded(course, gradebook, assignment)
        full = float(assignment.max_score)
        people = {student.id: student for student in gradebook.students}
        lines = []
        for name in {**people, **waiting}:
            mark = _about(name, full, people.get(name), entries.get(name, {}))
            if name in graded:
                submission, still_open = graded[name]
                mark = replace(
                    mark,
                    score=float(submission.score),
                    penalty=float(submission.late_submission_penalty or 0.0),
                    submitted=submission.timestamp,
                    open=still_open,
                )
            elif name in waiting:
                mark = replace(mark, refused=waiting[name])
            lines.append(mark)
    return sorted(lines, key=lambda mark: (mark.last_name, mark.first_name, mark.student))


def _about(student: str, full: float, person: Student | None, entry: Mapping[str, Any]) -> Mark:
    """A learner without a mark, with all that is known about them: in the gradebook, and from the platform."""
    columns = ("first_name", "last_name", "email", "lms_user_id")
    first, last, email, lms = (str(getattr(person, name, None) or "") for name in columns)
    platform, name = str(entry.get("platform", "")), str(entry.get("name", ""))
    by_name = platform in (MOODLE, CANVAS) and not (first or last or email or lms) and folder_name(name) == student
    if not first and not last:
        last = name
    if not email and "@" in student:  # as Gradescope has it
        email = student
    number = str(entry.get("id", ""))
    return Mark(student, first, last, email, lms, full, None, platform=platform, number=number, by_name=by_name)


def _graded(
    course: Course, gradebook: Gradebook, assignment: Assignment
) -> dict[str, tuple[SubmittedAssignment, bool]]:
    """By learner, the submissions that have been graded, and whether points in one wait for a person.

    nbgrader also has a submission of each learner who was given more time, and waits for answers that earn nothing.
    """
    points = {
        one.id: float(one.max_score)
        for notebook in assignment.notebooks
        for one in [*notebook.grade_cells, *notebook.task_cells]
    }
    marked = or_(Grade.auto_score.is_not(None), Grade.manual_score.is_not(None))
    wanted = (
        select(SubmittedNotebook.assignment_id, Grade.cell_id, Grade.needs_manual_grade, marked)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(SubmittedNotebook.notebook_id.in_([notebook.id for notebook in assignment.notebooks]))
    )
    graded, waiting = set(), set()
    for submission, where, open_, has_mark in gradebook.db.execute(wanted):
        if has_mark:
            graded.add(submission)
        if open_ and points.get(where):
            waiting.add(submission)
    return {
        one.student_id: (one, one.id in waiting)
        for one in assignment.submissions
        if one.id in graded or course.autograded(one.student_id, assignment.name).exists()
    }


def unmatched(marks: Sequence[Mark], to: str) -> list[str]:
    """The learners in whose rows a system finds nothing to know them by."""
    if to == "moodle":
        return [m.student for m in marks if m.by_name and not m.email and not _participant(m)]
    return [m.student for m in marks if m.by_name and not _canvas_id(m)] if to == "canvas" else []


def _participant(mark: Mark) -> str:
    return f"Participant {mark.number}" if mark.platform == MOODLE and mark.number else ""


def _canvas_id(mark: Mark) -> str:
    return mark.lms_user_id or (mark.number if mark.platform == CANVAS else "")


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
        [*header, "submitted", "to_grade_by_hand", "not_graded"],
        *(
            [
                *(mark.student, mark.first_name, mark.last_name, mark.email, column, mark.mark),
                *(number(mark.max_score), number(mark.penalty) if mark.score is not None else ""),
                f"{mark.submitted:%Y-%m-%d %H:%M:%S} UTC" if mark.submitted else "",
                "yes" if mark.open else "",
                mark.refused,
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
        login = "" if mark.by_name else mark.student
        rows.append([name or mark.student, _canvas_id(mark), "", login, "", mark.mark])
    return rows


def for_moodle(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """Moodle's grade import, for which the teacher maps the columns; and its grading worksheet."""
    rows = [["Identifier", "First name", "Last name", "ID number", "Email address", column, "Last modified (grade)"]]
    for mark in marks:
        number = "" if mark.by_name else mark.student
        rows.append([_participant(mark), mark.first_name, mark.last_name, number, mark.email, mark.mark, ""])
    return rows


def for_gradescope(marks: Sequence[Mark], column: str) -> list[list[str]]:
    """The columns of Gradescope's own export; it has none for the lesson's name, and so `column` is not used."""
    rows = [["First Name", "Last Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission Time"]]
    for mark in marks:
        status = "Ungraded" if mark.open or mark.refused else "Missing" if mark.score is None else "Graded"
        time = f"{mark.submitted:%Y-%m-%d %H:%M:%S} +0000" if mark.submitted else ""
        person = [mark.first_name, mark.last_name, mark.student, mark.email]
        rows.append([*person, mark.mark, number(mark.max_score), status, time])
    return rows


COLUMNS = {"moodle": "Grade"}
"""What the marks' column is called where that isn't the lesson's name."""
FORMATS: dict[str, Callable[[Sequence[Mark], str], list[list[str]]]] = {
    "csv": as_csv,
    "canvas": for_canvas,
    "moodle": for_moodle,
    "gradescope": for_gradescope,
}


def text(marks: Sequence[Mark], to: str, column: str) -> str:
    """The file for one system."""
    written = io.StringIO()
    rows = FORMATS[to](marks, column)
    csv.writer(written, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()
