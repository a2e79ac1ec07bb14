"""Late work: due dates, extensions, what nbgrader goes by, and what platforms and clocks say beside that.

Penalties are worked out by nbgrader's plugin, from the due date, a learner's extension and the time in `timestamp.txt`.
That is the platform's own time, where it gives one. Where it gives none, nobody is late: what a learner's own clock
says, or Canvas's LATE without a time, is told to the instructor, who knows what to make of it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from nbgrader.api import MissingEntry

from cellcheck.collecting.names import CLAIM, PLAIN
from cellcheck.collecting.placing import record
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.plain import named
from cellcheck.running.timestamp import timestamp


def set_due(course: Course, lesson: str, due: datetime, student: str | None = None) -> None:
    """Says when an assignment is due, or, by an extension of nbgrader's, when it is for one learner.

    Raises:
        GraderError: when the gradebook has no such learner, or no due date that could be extended.
    """
    due = due.astimezone(UTC).replace(tzinfo=None)
    with course.gradebook() as gradebook:
        assignment = gradebook.find_assignment(lesson)
        if student is None:
            assignment.duedate = due
            gradebook.db.commit()
            return
        if assignment.duedate is None:
            raise GraderError(f"{lesson} has no due date yet, so nobody's can be another one: set that first.")
        try:
            gradebook.find_student(student)
        except MissingEntry:
            raise GraderError(
                f"The gradebook knows no learner {student!r}: collect with --roster, which puts the class list into it."
            ) from None
        # nbgrader keeps an extension with a submission: one without marks, where nothing is handed in yet.
        gradebook.update_or_create_submission(lesson, student)
        more = due - assignment.duedate
        gradebook.grant_extension(lesson, student, minutes=more.total_seconds() / 60)


def due_lines(course: Course, lesson: str) -> list[str]:
    """When an assignment is due, and for whom it is another time."""
    due, extensions = _due(course, lesson)
    if due is None:
        return [f"{lesson} has no due date."]
    return [
        f"{lesson} is due {_shown(due)}.",
        *(f"{student}: {_shown(due + more)}." for student, more in sorted(extensions.items())),
    ]


def _shown(time: datetime) -> str:
    local = time.replace(tzinfo=UTC).astimezone()
    here = "" if not local.utcoffset() else f", {local:%Y-%m-%d %H:%M} here"
    return f"{time:%Y-%m-%d %H:%M} UTC{here}"


def told_about_time(course: Course, lesson: str) -> list[str]:
    """Sentences on whose lateness isn't known, or of whom two records say two things."""
    due, extensions = _due(course, lesson)
    entries = record(course.submitted_folder())
    called: list[str] = []
    unknown: list[str] = []
    clocks: list[str] = []
    disagree: list[str] = []
    handed_in = course.handed_in(lesson)
    for student in handed_in:
        entry: Mapping[str, Any] = entries.get(f"{student}/{lesson}", {})
        late, clock = entry.get("late"), _time(entry.get("clock"))
        try:
            time = timestamp(course.submission(student, lesson))
        except OSError:  # grading says what is wrong with it
            continue
        theirs = None if due is None else due + extensions.get(student, timedelta())
        if time is None:
            if late:
                called.append(student)
            elif late is None and due is not None:
                unknown.append(student)
        elif theirs is not None and late is not None and late != (time > theirs):
            disagree.append(f"{student} ({time:%Y-%m-%d %H:%M} UTC)")
        own = time is None or (entry.get("platform") in (PLAIN, CLAIM) and time == clock)
        if own and clock is not None and theirs is not None and clock > theirs:
            clocks.append(f"{student} ({clock:%Y-%m-%d %H:%M} UTC)")
    about_unknown = _UNKNOWN if len(unknown) < len(handed_in) else _NONE_KNOWN
    doubts = ((_CALLED, called), (about_unknown, unknown), (_CLOCKS, clocks), (_DISAGREE, disagree))
    return [
        sentence.format(who=named(students, 20), some=len(students), all=len(handed_in))
        for sentence, students in doubts
        if students
    ]


_ASK = "To have it counted, put the time into a column `submitted` of the class list, and collect again."
_CALLED = f"Canvas calls these late, and doesn't say by how much, so nothing is taken off: {{who}}. {_ASK}"
_UNKNOWN = (
    "There is a due date, and of {some} of {all} submissions nothing says when they were handed in, so nothing is "
    f"taken off: {{who}}. {_ASK}"
)
_NONE_KNOWN = f"There is a due date, and nothing says when anybody handed in, so nothing is taken off. {_ASK}"
_CLOCKS = "After the due date by their own computers' clocks, which prove nothing: {who}. Decide for yourself."
_DISAGREE = (
    "Canvas and the time on record disagree on whether these are late: {who}. Penalties go by the time. Is the due "
    "date in Canvas another one?"
)


def _due(course: Course, lesson: str) -> tuple[datetime | None, dict[str, timedelta]]:
    """When an assignment is due, in UTC, and how much more time each learner has."""
    file = course.database.file
    if file is not None and not file.exists():
        return None, {}
    with course.gradebook() as gradebook:
        try:
            assignment = gradebook.find_assignment(lesson)
        except MissingEntry:
            return None, {}
        return assignment.duedate, {s.student_id: s.extension for s in assignment.submissions if s.extension}


def _time(text: object) -> datetime | None:
    """A time of the record's, in UTC and as nbgrader has it: without a zone."""
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None
