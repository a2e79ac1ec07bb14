"""Grading from Python: notebooks in, marks out. docs/api.md shows how; `grader` itself offers these functions.

Importing this is cheap. What grading needs is imported when something is graded.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cellcheck.errors import GraderError

if TYPE_CHECKING:
    from cellcheck.batch import Job
    from cellcheck.running.limits import Limits
    from cellcheck.running.result import Failure, Result


def grade_notebook(
    notebook: str | os.PathLike[str] | bytes,
    *,
    lesson: str | None = None,
    course: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
    require_sandbox: bool = False,
) -> Result:
    """Grades one notebook. Its code runs in a process of its own, walled in, never in this one.

    Args:
        notebook: its path, or the bytes of the file.
        lesson: its lesson, such as "01_my_topic" or "01". Only a notebook that does not tell needs it.
        course: the folder of an nbgrader course. Then `lesson` is the name of a plain assignment in it. The path may be
            a folder with all that somebody handed in.
        seed: what the hidden cases are drawn from, 0 or more; a new one is drawn unless given. Grading is faster
            with a seed that was used before in this process.
        limits: what the notebook may use.
        require_sandbox: whether to refuse where a protection is missing. Otherwise there is a warning of the category
            `MissingProtection`.

    Raises:
        Unreadable: when there is nothing to grade; the message says why, and what to do.
        GraderError: when there is no such lesson, a required protection is missing, or submissions can't be run here.
        ValueError: for a negative seed.
    """
    check_numbers(seed)
    get_ready(1)
    around = [] if isinstance(notebook, bytes) else [Path(notebook).parent]
    if course is not None:
        return _grade_alone(notebook, _plain_job(course, lesson, 1, limits, around), require_sandbox)
    from cellcheck.running.grade import grade
    from cellcheck.running.intake import lesson_in, read_file
    from cellcheck.running.zygotes import in_sight
    from cellcheck.syllabus import load_lesson

    if lesson is not None:
        load_lesson(lesson)
    hidden = in_sight(around)
    data = notebook if isinstance(notebook, bytes) else read_file(Path(notebook))
    lesson_name = lesson_in(data, lesson).name
    seed = hidden_seed() if seed is None else seed
    _prepare(lesson_name, seed, hidden, require_sandbox)
    name = "" if isinstance(notebook, bytes) else os.fspath(notebook)
    return grade(data, seed, lesson=lesson, name=name, limits=limits, hidden=hidden)


def grade_notebooks(
    notebooks: Iterable[str | os.PathLike[str]],
    *,
    lesson: str | None = None,
    course: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    jobs: int = 1,
    limits: Limits | None = None,
    require_sandbox: bool = False,
) -> Generator[Result | Failure, None, None]:
    """Grades notebooks, all with the same hidden cases, and yields what came of each as soon as it is done.

    One that can't be graded yields a `Failure`, and costs the others nothing. With more than one job, what is done
    first comes first; `notebook` says which one it is. Closing the generator ends the work.

    Args:
        notebooks: their paths.
        jobs: how many to grade at a time, each in a process of its own.

    The others are those of `grade_notebook`; `lesson` goes for every notebook that does not tell. Of a plain
    assignment, each path may be a folder.

    Raises:
        GraderError: at once, when there is no such lesson, a required protection is missing, or submissions can't be
            run here.
        ValueError: for a negative seed, or no jobs.
    """
    check_numbers(seed, jobs)
    paths = [Path(notebook) for notebook in notebooks]
    get_ready(min(jobs, len(paths)))
    from cellcheck.batch import Job
    from cellcheck.running.limits import Limits
    from cellcheck.running.protection import check_walls
    from cellcheck.running.setting import setting_of
    from cellcheck.running.zygotes import in_sight
    from cellcheck.syllabus import load_lesson

    around = {path.parent for path in paths}
    if course is not None:
        job = _plain_job(course, lesson, jobs, limits, around)
        check_walls(setting_of(None, job.hidden), require_sandbox)
        return _graded(paths, job)
    hidden = in_sight(around)
    name = _lesson_of(paths) if lesson is None else load_lesson(lesson).name
    seed = hidden_seed() if seed is None else seed
    if name is not None:
        _prepare(name, seed, hidden, require_sandbox)
    return _graded(paths, Job(seed, lesson, jobs, limits or Limits(), hidden=hidden))


def hidden_seed() -> int:
    """A seed for hidden cases, which nobody knows beforehand. Keep it to draw the same cases again."""
    return secrets.randbits(32)


def check_numbers(seed: int | None, jobs: int = 1) -> None:
    """Refuses what can't be meant.

    Raises:
        ValueError: for a negative seed, or no jobs.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be 1 or more, not {jobs}")
    if seed is not None and seed < 0:
        raise ValueError(f"seed must be 0 or more, not {seed}")


def get_ready(jobs: int) -> None:
    """Starts processes for so many submissions at a time, and meanwhile imports what grading needs here.

    Raises:
        GraderError: when something is not installed.
    """
    from cellcheck.running.zygotes import warm_up

    warm_up(jobs, judging=jobs)
    try:
        import cellcheck.batch  # noqa: F401
    except ModuleNotFoundError as error:
        raise GraderError(
            f"Grading needs {error.name}, which is not installed here: install the course with its extra `grading`."
        ) from error


def _prepare(lesson: str, seed: int, hidden: tuple[str, ...], require_sandbox: bool) -> None:
    """Draws a lesson's hidden cases while the process for learners' code starts.

    A warning about its walls points at whoever called the function that calls this.
    """
    from cellcheck.running.grade import prepare
    from cellcheck.running.protection import check_walls, walled_in_meanwhile
    from cellcheck.running.setting import setting_of

    setting = setting_of(lesson, hidden)
    with walled_in_meanwhile(setting):
        prepare(lesson, seed)
    check_walls(setting, require_sandbox, further=1)


def _lesson_of(paths: Iterable[Path]) -> str | None:
    """The lesson of the first notebook that tells."""
    from cellcheck.running.intake import Unreadable, lesson_in, read_file

    for path in paths:
        try:
            return lesson_in(read_file(path)).name
        except Unreadable:
            continue
    return None


def _plain_job(
    course: str | os.PathLike[str], name: str | None, jobs: int, limits: Limits | None, around: Iterable[Path]
) -> Job:
    """How to grade a plain assignment; `around` are the folders of what was handed in.

    Raises:
        GraderError: when there is no such course, or no such assignment in it.
    """
    from cellcheck.batch import Job
    from cellcheck.gradebook.autograde import plain_limits
    from cellcheck.gradebook.course import Course
    from cellcheck.gradebook.kernels import other_kernels
    from cellcheck.gradebook.writer import released_aside
    from cellcheck.running.zygotes import in_sight

    if name is None:
        raise GraderError("Say which assignment of the course it is: with course, grading needs lesson too.")
    opened = Course.open(Path(course).resolve())
    if not opened.knows(name):
        raise GraderError(f"There are no notebooks of an assignment {name!r} in the course {opened.root}.")
    hidden = in_sight([*opened.folders(), *around])
    assignment = released_aside(opened, name)
    other_kernels(opened.source(name), assignment)
    return Job(0, None, jobs, limits or plain_limits(opened, name), assignment, hidden)


def _grade_alone(notebook: str | os.PathLike[str] | bytes, job: Job, require_sandbox: bool) -> Result:
    from cellcheck.batch import grade_work, take
    from cellcheck.running.handed_in import other_files
    from cellcheck.running.protection import check_walls
    from cellcheck.running.setting import setting_of

    handed = notebook if isinstance(notebook, bytes) else Path(notebook)
    check_walls(setting_of(None, job.hidden), require_sandbox, further=1)
    if isinstance(handed, bytes) or not handed.is_dir():
        return grade_work(take(handed, job, {}), job)
    return _with_choice(grade_work(take(handed, job, other_files(handed)), job), handed, job)


def _graded(paths: list[Path], job: Job) -> Generator[Result | Failure, None, None]:
    from cellcheck.batch import grade_files
    from cellcheck.running.handed_in import other_files
    from cellcheck.running.result import Result

    with closing(grade_files(paths, job, lambda path: other_files(path) if path.is_dir() else {})) as graded:
        for path, outcome in graded:
            yield _with_choice(outcome, path, job) if isinstance(outcome, Result) and path.is_dir() else outcome


def _with_choice(result: Result, folder: Path, job: Job) -> Result:
    """A folder's result, with what there is to say about which of its files counted."""
    from cellcheck.running.handed_in import choose

    assert job.assignment is not None
    _, notes = choose(folder, job.assignment)
    return replace(result, repairs=(*notes, *result.repairs))
