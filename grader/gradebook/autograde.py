"""`grader autograde`: everything in `submitted/` goes to the gradebook, `autograded/` and `feedback/`."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from grader.batch import Failure, grade_files, progress
from grader.errors import GraderError
from grader.gradebook.course import Course
from grader.gradebook.writer import write
from grader.running.grade import Result


def autograde_lesson(
    course: Course, lesson: str, seed: int, jobs: int, console: Console
) -> dict[str, Result | Failure]:
    """Grades every submission of a lesson and writes what came of it; per student, the result.

    Several are graded at a time if asked; one at a time is written, in this thread.

    Raises:
        GraderError: when there is nothing to grade, or nbgrader can't set the lesson up.
    """
    students = course.students(lesson)
    course.ensure_assignment(lesson)
    student_of = {course.submitted(student, lesson): student for student in students}
    outcomes: dict[str, Result | Failure] = {}
    with progress(console, f"grading {lesson}", len(students)) as advance:
        for path, outcome in grade_files(list(student_of), seed, lesson=lesson, jobs=jobs):
            student = student_of[path]
            outcomes[student] = written = _written(course, student, lesson, outcome)
            if isinstance(written, Failure):
                console.print(escape(f"{student}: {written.message}"), highlight=False)
            advance(student)
    return outcomes


def _written(course: Course, student: str, lesson: str, outcome: Result | Failure) -> Result | Failure:
    if isinstance(outcome, Failure):
        return outcome
    if outcome.lesson != lesson:
        return Failure(outcome.notebook, f"This is a notebook of lesson {outcome.lesson}, not of {lesson}.")
    try:
        write(course, student, outcome)
    except GraderError as error:
        return Failure(outcome.notebook, f"nbgrader can't take it: {error}")
    return outcome
