"""`grader autograde`: everything in `submitted/` goes to the gradebook, `autograded/` and `feedback/`."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from pathlib import Path

from nbgrader.preprocessors import Execute
from rich.console import Console
from rich.markup import escape

from grader.batch import Job, grade_files, progress
from grader.errors import GraderError
from grader.gradebook.course import Course
from grader.gradebook.files import Halt
from grader.gradebook.journal import Journal, basis, digest
from grader.gradebook.writer import Writer
from grader.plain import harmless
from grader.running.assignment import Assignment
from grader.running.handed_in import MAX_NOTEBOOKS, handed_in, is_notebook, other_files
from grader.running.intake import read_file, read_submission
from grader.running.limits import Limits
from grader.running.result import Failure, Result
from grader.syllabus import load_lesson

MAX_CELL_SECONDS = 600.0  # where nbgrader would wait for ever


def autograde_assignment(
    course: Course, name: str, job: Job, console: Console, *, plain: bool = False, resume: bool = False
) -> tuple[dict[str, Result | Failure], int]:
    """Grades every submission of an assignment and writes what came of it; per student the result, and the seed used.

    It is a lesson's, unless it is `plain`. Several are graded at a time if asked; one at a time is written, in this
    thread. With `resume`, what an earlier run has graded is left as it is, unless it was handed in anew since, or what
    it is judged by has changed, or what came of it is not all there. Penalties for being late are worked out again.

    Raises:
        GraderError: when there is nothing to grade, the assignment can't be set up, or another grader is at work. A
            `Halt` when the run can't go on.
    """
    lesson = None if plain else load_lesson(name)
    with course.alone():
        students = course.students(name)
        course.ensure_assignment(name, plain=plain)
        with course.gradebook() as gradebook:
            writer = Writer(course, gradebook, name, lesson)
            journal = Journal(course.root, name)
            if not (resume and journal.go_on()):
                if resume:
                    console.print("There is no earlier run to go on with: everybody is graded.", highlight=False)
                journal.begin(job.seed)
            assert journal.seed is not None
            job = dataclasses.replace(
                job,
                seed=journal.seed,
                lesson=None if plain else name,
                assignment=writer.assignment,
                limits=plain_limits(course) if plain else job.limits,
            )
            return _grade(writer, journal, students, job, console), journal.seed


def as_they_stand(
    course: Course, name: str, outcomes: Mapping[str, Result | Failure], *, plain: bool = False
) -> dict[str, Result | Failure]:
    """The outcomes as the gradebook has them: with the points and comments that people gave."""
    with course.gradebook() as gradebook:
        writer = Writer(course, gradebook, name, None if plain else load_lesson(name))
        return {
            student: writer.standing(student, found) if isinstance(found, Result) else found
            for student, found in outcomes.items()
        }


def write_pages_again(course: Course, name: str, *, plain: bool = False) -> int:
    """Writes the pages of an assignment anew, with the points and comments that people have given; how many.

    Raises:
        GraderError: when nothing is graded, or a page can't be written.
    """
    journal = Journal(course.root, name)
    journal.go_on()
    results = journal.results()
    if not results:
        raise GraderError(f"{name} hasn't been graded here yet: run grader autograde {name} first.")
    with course.alone(), course.gradebook() as gradebook:
        writer = Writer(course, gradebook, name, None if plain else load_lesson(name))
        for student, result in results.items():
            writer.write_page_again(student, result)
    return len(results)


def plain_limits(course: Course) -> Limits:
    """As much time for each cell as nbgrader gives: a plain assignment may train something."""
    timeout = Execute(config=course.config).timeout  # which a course may also set for nbconvert as a whole
    seconds = float(timeout) if timeout is not None and timeout > 0 else MAX_CELL_SECONDS
    usual = Limits()
    return dataclasses.replace(usual, cell_seconds=seconds, cpu_seconds=max(usual.cpu_seconds, 4 * seconds))


def _grade(
    writer: Writer, journal: Journal, students: list[str], job: Job, console: Console
) -> dict[str, Result | Failure]:
    course, name = writer.course, writer.name
    judged_by, marks = basis(writer.assignment), writer.book.marks()
    digests = {student: digest(course.submission(student, name), judged_by) for student in students}
    outcomes: dict[str, Result | Failure] = {}
    for student in students:
        result = journal.graded(student, digests[student])
        if result is not None and writer.holds(student, result, marks.get(student, {})):
            outcomes[student] = result
    for student, known in journal.results().items():  # those whose folder is gone too: their marks still count
        if student in marks:
            writer.penalise(student, known)
    if outcomes:
        console.print(f"{len(outcomes)} of {len(students)} are graded already.", highlight=False)
    handed_in = {student: _chosen(writer, student) for student in students if student not in outcomes}
    student_of = {path: student for student, (path, _) in handed_in.items()}
    graded = grade_files(list(student_of), job, other_files)
    with progress(console, f"grading {name}", len(student_of)) as advance, contextlib.closing(graded):
        for path, outcome in graded:
            student = student_of[path]
            if isinstance(outcome, Result) and handed_in[student][1]:
                outcome = dataclasses.replace(outcome, repairs=(handed_in[student][1], *outcome.repairs))
            written = _written(writer, student, path, outcome)
            if isinstance(written, Result):
                journal.add(student, digests[student], written)
            outcomes[student] = _remembered(written)
            for line in _troubles(student, written):
                console.print(escape(line), highlight=False, soft_wrap=True)
            advance(student)
    return _compared(writer, outcomes, console)


def _chosen(writer: Writer, student: str) -> tuple[Path, str]:
    """What to grade of a submission, and what to say about the choice. Of a plain one it is all, the whole folder."""
    folder = writer.course.submission(student, writer.name)
    return choose(folder, writer.name) if writer.assignment.lesson is not None else (folder, "")


def _compared(writer: Writer, outcomes: dict[str, Result | Failure], console: Console) -> dict[str, Result | Failure]:
    """The outcomes, where the gradebook says the same; a failure for each learner of whom it says something else."""
    marks = writer.book.marks()
    compared = dict(outcomes)
    for student, outcome in outcomes.items():
        if isinstance(outcome, Failure):
            if student in marks:
                line = f"{student}: the gradebook still holds the marks of an earlier submission."
                console.print(escape(line), highlight=False, soft_wrap=True)
        elif found := writer.differences(outcome, marks.get(student, {})):
            message = f"The gradebook disagrees ({', '.join(found)}). Run this again with --resume."
            compared[student] = Failure(outcome.notebook, message)
            console.print(escape(f"{student}: {message}"), highlight=False, soft_wrap=True)
    if gone := sorted(marks.keys() - outcomes.keys()):
        line = f"The gradebook also has marks of learners who are not in the submitted folder: {', '.join(gone)}."
        console.print(escape(line), highlight=False, soft_wrap=True)
    return compared


def choose(folder: Path, lesson: str) -> tuple[Path, str]:
    """The notebook of a submission to grade, and what to say about the choice.

    The one with the lesson's name, unless it is of no use and another one is of this lesson.
    """
    named = folder / f"{lesson}.ipynb"
    if folder.is_symlink():
        return folder, ""
    others = sorted(path for path in folder.glob("*.ipynb") if path != named)[:MAX_NOTEBOOKS]
    if not others or _is_of(named, lesson):
        left = ", ".join(harmless(path.name) for path in others)
        return named, f"There was more than one notebook; {left} was left out." if others else ""
    for other in others:
        if _is_of(other, lesson):
            return other, f"The notebook was called {harmless(other.name)}; it was treated as {named.name}."
    return named if named.exists() else others[0], ""


def _is_of(path: Path, lesson: str) -> bool:
    try:
        return read_submission(read_file(path)).lesson.name == lesson
    except (GraderError, OSError):
        return False


def _written(writer: Writer, student: str, path: Path, outcome: Result | Failure) -> Result | Failure:
    if isinstance(outcome, Result) and outcome.lesson != writer.name:
        message = f"This is a notebook of lesson {outcome.lesson}, not of {writer.name}. Submit the right one."
        outcome = Failure(outcome.notebook, message)
    try:
        if isinstance(outcome, Result):
            writer.write(student, _notebooks(writer.assignment, path), outcome)
        else:
            writer.write_failure(student, outcome.message)
        return outcome
    except Halt:
        raise
    except GraderError as error:
        message = f"The marks can't be written: {error}"
    except Exception as error:  # a fault of ours must not cost the others their marks
        message = f"The grader itself failed ({type(error).__name__}: {error}). Please report it."
    failure = Failure(outcome.notebook, message) if isinstance(outcome, Result) else outcome
    with contextlib.suppress(GraderError):
        writer.write_failure(student, failure.message)
    return failure


def _notebooks(assignment: Assignment, path: Path) -> dict[str, bytes]:
    """What was graded, by the notebooks' names."""
    plain = assignment.plain
    found, _ = handed_in(path if plain is assignment else path.parent, plain)
    read = {title: data for title, data in found.items() if isinstance(data, bytes) and is_notebook(data)}
    return read if plain is assignment else {assignment.name: read_file(path), **read}


def _remembered(outcome: Result | Failure) -> Result | Failure:
    """A result without its pictures: three hundred of those are too many to hold."""
    if isinstance(outcome, Failure):
        return outcome
    light = tuple(dataclasses.replace(verdict, evidence=None, printed="") for verdict in outcome.verdicts)
    return dataclasses.replace(outcome, verdicts=light)


def _troubles(student: str, outcome: Result | Failure) -> list[str]:
    """One line for a submission that failed or needed repair."""
    if isinstance(outcome, Failure):
        return [f"{student}: {outcome.message}"]
    if not outcome.repairs:
        return []
    more = len(outcome.repairs) - 1
    return [f"{student}: {outcome.repairs[0]}" + (f" ({more} more)" if more else "")]
