"""`cellcheck autograde`: everything in `submitted/` goes to the gradebook, `autograded/` and `feedback/`."""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from nbgrader.preprocessors import Execute

from cellcheck.batch import Job, grade_in_groups
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.draft import Drafted
from cellcheck.gradebook.folders import Halt, unwritten
from cellcheck.gradebook.journal import Journal, basis, digest
from cellcheck.gradebook.kernels import other_kernels
from cellcheck.gradebook.report import Outcomes, Progress, Report, Tell, parts
from cellcheck.gradebook.settings import not_honoured
from cellcheck.gradebook.source_notebooks import parsed
from cellcheck.gradebook.writer import Graded, Writer
from cellcheck.plain import named
from cellcheck.running.assignment import Assignment
from cellcheck.running.handed_in import choose, handed_in, left_out, other_files, readable
from cellcheck.running.intake import Unreadable, read_file
from cellcheck.running.limits import SLEEP_FACTOR, Limits
from cellcheck.running.plain_cells import as_text
from cellcheck.running.reading_apart import read_apart
from cellcheck.running.result import Failure, Result
from cellcheck.running.walk import LOCKED
from cellcheck.syllabus import CONFIGURATION, load_lesson
from cellcheck.variants import asks_for_draw, drawn_for, told_about_draw

TOGETHER = 50  # submissions in one transaction, at most
MAX_CELL_SECONDS = 600.0  # where nbgrader would wait for ever
MAX_NOTEBOOK_SECONDS = 3600.0  # but for a single cell that may have more
_USUAL_CELLS = 20  # where there is no source notebook


class Grading(Protocol):
    """How submissions are graded: `grade_in_groups` does it here."""

    def __call__(
        self, paths: Iterable[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]]
    ) -> Generator[Sequence[tuple[Path, Result | Drafted | Failure]], None, None]:
        """Groups of what is done. A submission may come with what is to be written of it."""
        ...


def autograde_assignment(
    course: Course,
    name: str,
    job: Job,
    tell: Tell,
    *,
    plain: bool = False,
    resume: bool = False,
    again: Collection[str] = (),
    grading: Grading | None = None,
) -> Report:
    """Grades every submission of an assignment and writes what came of it. What `tell` is told is for whoever waits.

    It is a lesson's, unless it is `plain`. Several are graded at a time if asked, here or wherever `grading` has it
    done; what is done at the same time is written together, in this thread. With `resume`, what an earlier run has
    graded is left as it is, unless it was handed in anew since, or what it is judged by has changed, or what came of it
    is not all there; or its learner is to be graded `again`. Penalties for being late are worked out again.

    Raises:
        GraderError: when there is nothing to grade, the assignment can't be set up, or another grader is at work. A
            `Halt` when the run can't go on.
    """
    lesson = None if plain else load_lesson(name)
    with course.alone():
        students = course.students(name)
        if strangers := sorted({*again} - {*students}):
            raise GraderError(f"There is no submission of {name} by {named(strangers)}.")
        course.ensure_assignment(name, plain=plain)
        with course.gradebook() as gradebook:
            writer = Writer(course, gradebook, name, lesson)
            for note in _before(course, writer.assignment):
                tell(Progress(notes=(note,)))
            journal = Journal(course.root, name)
            if not (resume and journal.go_on()):
                if resume:
                    tell(Progress(notes=("There is no earlier run to go on with: everybody is graded.",)))
                journal.begin(job.seed)
            assert journal.seed is not None
            job = dataclasses.replace(
                job, seed=journal.seed, lesson=None if plain else name, assignment=writer.assignment
            )
            outcomes = _grade(writer, journal, students, job, tell, grading or grade_in_groups, again)
            notes = (*_stopped_for_all(outcomes), *_compared(writer, outcomes))
            for note in notes:
                tell(Progress(notes=(note,)))
            return Report(name, None if plain else journal.seed, outcomes, outcomes.failures, notes, course)


def _before(course: Course, assignment: Assignment) -> Iterator[str]:
    """Sentences on what is set otherwise than it is done here.

    Raises:
        GraderError: when what the notebooks need is missing here.
    """
    if ignored := not_honoured(course.config):
        yield f"{CONFIGURATION} has settings that change nothing here, see docs/assignments.md: {', '.join(ignored)}."
    yield from other_kernels(course.source(assignment.name), assignment)


def write_pages_again(course: Course, name: str, *, plain: bool = False) -> int:
    """Writes the pages of an assignment anew, with the points and comments that people have given; how many.

    Raises:
        GraderError: when nothing is graded, or a page can't be written.
    """
    journal = Journal(course.root, name)
    journal.go_on()
    results = journal.results()
    if not results:
        raise GraderError(f"{name} hasn't been graded here yet: run cellcheck autograde {name} first.")
    with course.alone(), course.gradebook() as gradebook:
        writer = Writer(course, gradebook, name, None if plain else load_lesson(name))
        for student, result in results.items():
            writer.write_page_again(student, result)
    return len(results)


def plain_limits(course: Course, name: str) -> Limits:
    """As much time for each cell as nbgrader gives: a plain assignment may train something in any of them."""
    timeout = Execute(config=course.config).timeout  # which a course may also set for nbconvert as a whole
    seconds = float(timeout) if timeout is not None and timeout > 0 else MAX_CELL_SECONDS
    usual = Limits()
    cells = max(map(_code_cells, course.source(name).glob("*.ipynb")), default=_USUAL_CELLS)
    return dataclasses.replace(
        usual,
        cell_seconds=seconds,
        cpu_seconds=max(usual.cpu_seconds, seconds, min(cells * seconds, MAX_NOTEBOOK_SECONDS)),
        sleep_seconds=max(usual.sleep_seconds, min(cells * seconds, MAX_NOTEBOOK_SECONDS), SLEEP_FACTOR * seconds),
    )


def _code_cells(notebook: Path) -> int:
    """How many there are in a source notebook."""
    cells = parsed(notebook).get("cells")
    if not isinstance(cells, list):  # whoever generates it says what is wrong
        return _USUAL_CELLS
    return sum(isinstance(cell, dict) and cell.get("cell_type") == "code" for cell in cells)


def _grade(
    writer: Writer,
    journal: Journal,
    students: list[str],
    job: Job,
    tell: Tell,
    grading: Grading,
    again: Collection[str],
) -> Outcomes:
    course, name = writer.course, writer.name
    judged_by = basis(writer.assignment)
    digests = {student: digest(course.submission(student, name), judged_by) for student in students}
    graded = {*_graded_already(writer, journal, digests)} - {*again}
    outcomes = Outcomes(graded, journal.results())
    for part in parts(list(journal.results())):  # those whose folder is gone too: their marks still count
        writer.penalise(list(writer.book.marks(part)), journal.results())
    left = [student for student in students if student not in outcomes.graded]
    folders = {course.submission(student, name): student for student in left}
    already = f"{len(outcomes)} of {len(students)} are graded already."
    done = 0
    tell(Progress(done, len(left), notes=(already,) if outcomes.graded else ()))
    with contextlib.closing(grading(iter(folders), job, other_files)) as groups:
        for group in groups:
            for some in parts(group, TOGETHER):
                there = [(folders[folder], folder, outcome) for folder, outcome in some]
                for student, written in _written(writer, journal, digests, there):
                    if isinstance(written, Failure):
                        outcomes.failures[student] = written
                    else:
                        outcomes.graded.add(student)
                    done += 1
                    tell(Progress(done, len(left), student, written, _troubles(student, written)))
    return outcomes


def _graded_already(writer: Writer, journal: Journal, digests: Mapping[str, str]) -> Iterator[str]:
    """The learners whose submissions an earlier run has graded, if all that came of them is still there."""
    for part in parts(list(digests)):
        marks = writer.book.marks(part)
        for student in part:
            result = journal.graded(student, digests[student])
            if result is not None and writer.holds(student, result, marks.get(student, {})):
                yield student


def _stopped_for_all(outcomes: Outcomes) -> Iterator[str]:
    """A sentence on each of the instructor's own cells that stopped in every submission: no learner is to blame."""
    results = 0
    stopped: Counter[str] = Counter()
    for outcome in outcomes.values():
        if isinstance(outcome, Result):
            results += 1
            stopped.update(
                {repair.removesuffix(LOCKED).strip() for repair in outcome.repairs if repair.endswith(LOCKED)}
            )
    for sentence, count in stopped.items():
        if results > 1 and count == results:
            yield (
                f"In all {results} submissions a locked cell of yours stopped. {sentence} Mend it, or install what it "
                "needs, and grade again."
            )


def _compared(writer: Writer, outcomes: Outcomes) -> Iterator[str]:
    """Sentences on what the gradebook says otherwise; each learner of whom it does becomes a failure."""
    for part in parts(list(outcomes)):
        marks = writer.book.marks(part)
        for student in part:
            outcome = outcomes[student]
            if isinstance(outcome, Failure):
                if any(score is not None for score in marks.get(student, {}).values()):
                    yield f"{student}: the gradebook still holds the marks of an earlier submission."
            elif differences := writer.differences(outcome, marks.get(student, {})):
                message = f"The gradebook disagrees ({', '.join(differences)}). Run this again with --resume."
                outcomes.failures[student] = Failure(outcome.notebook, message)
                yield f"{student}: {message}"
    if gone := [student for student in writer.book.students() if student not in outcomes]:
        yield f"The gradebook also has marks of learners who are not in the submitted folder: {', '.join(gone)}."


def _written(
    writer: Writer,
    journal: Journal,
    digests: Mapping[str, str],
    group: Iterable[tuple[str, Path, Result | Drafted | Failure]],
) -> list[tuple[str, Result | Failure]]:
    """Writes what came of some submissions: for each the student, and the folder that was handed in."""
    outcomes: dict[str, Result | Failure] = {}
    graded: list[Graded] = []
    for student, folder, outcome in group:
        try:
            draft = _drafted(writer, student, folder, outcome)
        except Exception as error:
            draft = _not_written(str(folder), error)
        if isinstance(draft, Failure):
            outcomes[student] = draft
        else:
            outcomes[student] = draft.result
            graded.append(Graded(student, draft.result, draft.draft))
    outcomes |= _written_together(writer, journal, digests, graded)
    for student, written in outcomes.items():
        if isinstance(written, Failure):
            _write_failure(writer, student, written)
    return list(outcomes.items())


def _drafted(writer: Writer, student: str, folder: Path, outcome: Result | Drafted | Failure) -> Drafted | Failure:
    """What is to be written of a submission that was graded, with what there is to say about the files in it."""
    assignment = writer.assignment
    chosen, repairs = ({}, ()) if folder.is_symlink() else choose(folder, assignment)
    name = str(folder)
    if assignment.lesson is not None:  # whose notebook is the submission
        name = str(chosen.get(assignment.name, folder / f"{assignment.name}.ipynb"))
    if student != as_text(student):
        return Failure(name, "The folder's name isn't text (UTF-8): rename it, and grade again.")
    if isinstance(outcome, Failure):
        return dataclasses.replace(outcome, notebook=name)
    result = outcome.result if isinstance(outcome, Drafted) else outcome
    draws = _told_about_draws(writer, student, chosen)
    result = dataclasses.replace(result, notebook=name, repairs=(*draws, *repairs, *left_out(folder), *result.repairs))
    if isinstance(outcome, Drafted):
        return Drafted(result, outcome.draft)
    notebooks, _ = handed_in(folder, assignment)
    return Drafted(result, writer.draft(readable(notebooks), result))


def _told_about_draws(writer: Writer, student: str, chosen: Mapping[str, Path]) -> Iterator[str]:
    """A sentence on each notebook that has the questions of somebody else."""
    for title, path in chosen.items():
        locked = [cell.source for cell in writer.assignment.notebooks[title].values() if cell.locked]
        if not asks_for_draw(locked):
            continue
        with contextlib.suppress(Unreadable):  # whoever grades it says why
            cells = read_apart("cells", read_file(path))
            drawn = drawn_for(locked, (cell["source"] for cell in cells if cell["kind"] == "code"))
            if drawn is not None and (sentence := told_about_draw(drawn, student, writer.book.names(student))):
                yield sentence


def _written_together(
    writer: Writer, journal: Journal, digests: Mapping[str, str], graded: list[Graded]
) -> dict[str, Failure]:
    """Writes submissions in one transaction; if that fails, one by one, so that whoever is at fault pays alone.

    Where nobody's can be written any more, those that still could be are kept.
    """
    if not graded:
        return {}
    try:
        writer.write(graded)
        journal.add((one.student, digests[one.student], one.result) for one in graded)
        return {}
    except Halt:
        if len(graded) == 1:
            raise
    except Exception as error:
        if len(graded) == 1:
            return {graded[0].student: _not_written(graded[0].result.notebook, error)}
    failed: dict[str, Failure] = {}
    for one in graded:
        failed |= _written_together(writer, journal, digests, [one])
    return failed


def _not_written(notebook: str, error: Exception) -> Failure:
    """What to say of a result that could not be written: a fault of ours must not cost the others their marks."""
    if isinstance(error, OSError):
        error = unwritten(error, Path(notebook))
    if isinstance(error, GraderError):
        return Failure(notebook, f"The marks can't be written: {error}")
    return Failure(notebook, f"The grader itself failed ({type(error).__name__}: {error}). Please report it.")


def _write_failure(writer: Writer, student: str, failed: Failure) -> None:
    try:
        writer.write_failure(student, failed.message)
    except Halt:
        raise
    except GraderError:
        pass  # the run says so anyway


def _troubles(student: str, outcome: Result | Failure) -> tuple[str, ...]:
    """One line for a submission that failed or needed repair."""
    if isinstance(outcome, Failure):
        return (f"{student}: {outcome.message}",)
    if not outcome.repairs:
        return ()
    more = len(outcome.repairs) - 1
    return (f"{student}: {outcome.repairs[0]}" + (f" ({more} more)" if more else ""),)
