"""`grader autograde`: everything in `submitted/` goes to the gradebook, `autograded/` and `feedback/`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.batch import Failure, grade_files, progress
from grader.errors import GraderError
from grader.gradebook.course import Course
from grader.gradebook.writer import write, write_failure
from grader.running.grade import Result
from grader.running.intake import read_file, read_submission
from grader.running.limits import Limits


def autograde_lesson(
    course: Course, lesson: str, seed: int, jobs: int, console: Console, limits: Limits | None = None
) -> dict[str, Result | Failure]:
    """Grades every submission of a lesson and writes what came of it; per student, the result.

    Several are graded at a time if asked; one at a time is written, in this thread.

    Raises:
        GraderError: when there is nothing to grade, or nbgrader can't set the lesson up.
    """
    students = course.students(lesson)
    course.ensure_assignment(lesson)
    handed_in = {student: choose(course.submission(student, lesson), lesson) for student in students}
    student_of = {path: student for student, (path, _) in handed_in.items()}
    outcomes: dict[str, Result | Failure] = {}
    with progress(console, f"grading {lesson}", len(students)) as advance:
        for path, outcome in grade_files(list(student_of), seed, lesson=lesson, jobs=jobs, limits=limits):
            student = student_of[path]
            if isinstance(outcome, Result) and handed_in[student][1]:
                outcome = dataclasses.replace(outcome, repairs=(handed_in[student][1], *outcome.repairs))
            outcomes[student] = written = _written(course, student, lesson, path, outcome)
            if isinstance(written, Failure):
                console.print(escape(f"{student}: {written.message}"), highlight=False, soft_wrap=True)
            advance(student)
    return outcomes


def choose(folder: Path, lesson: str) -> tuple[Path, str]:
    """The notebook of a submission to grade, and what to say about the choice.

    The one with the lesson's name, unless it is of no use and another one is of this lesson.
    """
    named = folder / f"{lesson}.ipynb"
    if folder.is_symlink():
        return folder, ""
    others = sorted(path for path in folder.glob("*.ipynb") if path != named)
    if not others or _is_of(named, lesson):
        left = ", ".join(path.name for path in others)
        return named, f"There was more than one notebook; {left} was left out." if others else ""
    for other in others:
        if _is_of(other, lesson):
            return other, f"The notebook was called {other.name}; it was taken for {named.name}."
    return named if named.exists() else others[0], ""


def _is_of(path: Path, lesson: str) -> bool:
    try:
        return read_submission(read_file(path)).lesson.name == lesson
    except GraderError:
        return False


def _written(course: Course, student: str, lesson: str, path: Path, outcome: Result | Failure) -> Result | Failure:
    if isinstance(outcome, Result) and outcome.lesson != lesson:
        message = f"This is a notebook of lesson {outcome.lesson}, not of {lesson}. Submit the right one."
        outcome = Failure(outcome.notebook, message)
    if isinstance(outcome, Result):
        try:
            write(course, student, read_file(path), outcome)
            return outcome
        except GraderError as error:
            outcome = Failure(outcome.notebook, f"nbgrader can't take it: {error}")
    write_failure(course, student, lesson, outcome.message)
    return outcome
