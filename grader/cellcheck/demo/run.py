"""The demo's course, from release to feedback, with nbgrader's own exchange in between."""

import contextlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.exchange import ExchangeFactory
from rich.console import Console

from cellcheck.api import hidden_seed
from cellcheck.batch import Job
from cellcheck.demo.learners import Learner, a_letter, demo_class
from cellcheck.errors import GraderError
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.report import watching
from cellcheck.repository import Repository
from cellcheck.running.result import Failure
from cellcheck.syllabus import CONFIGURATION
from cellcheck.tables import results_table


def run_demo(repository: Repository, folder: Path | None, console: Console) -> None:
    """Releases the lessons that bring a class, submits for it, collects, grades, writes feedback.

    Raises:
        GraderError: when the folder is not empty, or a notebook can't be graded.
    """
    learners = demo_class(repository)
    lessons = list(dict.fromkeys(learner.lesson for learner in learners))
    course, exchange = make_course(repository, folder, lessons)
    console.print(f"a fresh course in {course.root}", highlight=False, soft_wrap=True)
    with _timed(console, f"released {' and '.join(lessons)}"):
        for lesson in lessons:
            course.ensure_assignment(lesson)
            exchange_step(course, "ReleaseAssignment", lesson)
    with _timed(console, f"{len(learners)} notebooks submitted, and collected"):
        for learner in learners:
            hand_in(course, exchange, learner)
        for lesson in lessons:
            exchange_step(course, "Collect", lesson)
    failed: set[str] = set()
    for lesson in lessons:
        with _timed(console, f"graded {lesson}, and wrote feedback"):
            job = Job(hidden_seed(), lesson, os.cpu_count() or 1)
            with watching(console, f"grading {lesson}") as tell:
                outcomes = autograde_assignment(course, lesson, job, tell).outcomes
        console.print()
        console.print(results_table(sorted(outcomes.items()), "learner"))
        console.print()
        failed |= {name for name, outcome in outcomes.items() if isinstance(outcome, Failure)}
    for what, path in (
        ("gradebook", course.root / "gradebook.db"),
        ("a feedback page", course.feedback(_to_look_at(learners), lessons[0])),
    ):
        console.print(f"{what}: {path}", highlight=False, soft_wrap=True)
    console.print(
        f"Formgrader: cd {course.root} && jupyter lab --LabApp.default_url=/formgrader", highlight=False, soft_wrap=True
    )
    letters = {learner.name for learner in learners if learner.accident is a_letter}
    if failed != letters:
        raise GraderError(f"Only {sorted(letters)} hand in no notebook, but these can't be graded: {sorted(failed)}.")


def _to_look_at(learners: Sequence[Learner]) -> str:
    """Somebody with mistakes to read about."""
    return next((learner for learner in learners if learner.edits), learners[0]).name


def make_course(repository: Repository, folder: Path | None, lessons: Sequence[str]) -> tuple[Course, Path]:
    """A fresh nbgrader course with some lessons, and a folder for its exchange.

    Raises:
        GraderError: when `folder` holds something already.
    """
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="grader-demo-"))
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        raise GraderError(f"{folder} is not empty: name a new folder for the demo.")
    root, exchange = folder / "course", folder / "exchange"
    root.mkdir(parents=True)
    exchange.mkdir()
    exchange.chmod(0o777)  # nbgrader wants an exchange that everyone can write to
    shutil.copy(repository.root / CONFIGURATION, root)
    for lesson in lessons:
        if not repository.solution(lesson).is_file():
            raise GraderError(f"{lesson} has no notebooks yet: run cellcheck build first.")
        shutil.copytree(repository.solution(lesson).parent, root / "solutions" / lesson)
    course = Course.open(root)
    course.config.Exchange.root = str(exchange)
    course.config.Exchange.cache = str(folder / "cache")
    return course, exchange


def hand_in(course: Course, exchange: Path, learner: Learner) -> None:
    """The learner fills in the released notebook and submits it."""
    lesson = learner.lesson
    released = exchange / course.directory.course_id / "outbound" / lesson / f"{lesson}.ipynb"
    home = exchange.parent / "homes" / learner.name
    (home / lesson).mkdir(parents=True)
    text = learner.hand_in(released.read_text("utf-8"))
    (home / lesson / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
    exchange_step(course, "Submit", lesson, student=learner.name, folder=home)


def exchange_step(course: Course, what: str, lesson: str, student: str = "*", folder: Path | None = None) -> None:
    """One step of nbgrader's exchange ("ReleaseAssignment", "Submit", "Collect"); submitting is done from `folder`."""
    course.directory.assignment_id, course.directory.student_id = lesson, student
    factory = ExchangeFactory(config=course.config)
    step = getattr(factory, what)(
        coursedir=course.directory, authenticator=Authenticator(config=course.config), config=course.config
    )
    if folder is not None:
        step.assignment_dir = str(folder)
    step.log = logging.Logger("cellcheck.exchange", logging.CRITICAL)
    with contextlib.chdir(course.root):
        step.start()
    course.directory.student_id = "*"


@contextlib.contextmanager
def _timed(console: Console, what: str) -> Iterator[None]:
    start = time.monotonic()
    yield
    console.print(f"  {what} ({time.monotonic() - start:.1f} s)", highlight=False)
