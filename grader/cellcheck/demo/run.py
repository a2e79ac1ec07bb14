"""The demo's course, from release to feedback, with nbgrader's own exchange in between."""

import contextlib
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent

from nbgrader.auth import Authenticator
from nbgrader.exchange import ExchangeFactory
from rich.console import Console

from cellcheck.api import hidden_seed
from cellcheck.batch import Job
from cellcheck.checking.cards import plain
from cellcheck.demo.learners import Learner, a_letter, demo_class
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.journal import Journal
from cellcheck.gradebook.report import as_they_stand, watching
from cellcheck.reporting.class_page import page_of
from cellcheck.repository import Repository
from cellcheck.running.result import Failure, Result
from cellcheck.syllabus import CONFIGURATION, load_lesson
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
    _say_what_to_look_at(course, repository, learners, lessons[0], console)
    letters = {learner.name for learner in learners if learner.accident is a_letter}
    if failed != letters:
        raise GraderError(f"Only {sorted(letters)} hand in no notebook, but these can't be graded: {sorted(failed)}.")


def _say_what_to_look_at(
    course: Course, repository: Repository, learners: Sequence[Learner], lesson: str, console: Console
) -> None:
    """What one learner reads, where the pages are, and what to do next."""
    journal = Journal(course.root, lesson)
    journal.go_on()
    stand = as_they_stand(course, lesson, journal.results())
    results = {student: outcome for student, outcome in stand if isinstance(outcome, Result)}
    learner = next((learner.name for learner in learners if learner.edits), learners[0].name)
    class_page = course.root / "class.html"
    write_whole(class_page, page_of(course, lesson, results, load_lesson(lesson)))

    def say(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True, markup=False)

    verdict = next((verdict for verdict in results[learner].verdicts if verdict.diagnosis), None)
    if verdict is not None:
        say(f"What {learner} reads of one exercise:\n\n{indent(plain(verdict), '    ')}\n")
    make = (repository.root / "Makefile").is_file()
    jupyter = Path(sys.executable).parent / "jupyter"
    for what, line in (
        (f"{learner}'s feedback page", course.feedback(learner, lesson).as_uri()),
        ("the class on a page", class_page.as_uri()),
        ("in Formgrader", f"make formgrader COURSE={course.root}" if make else f"cd {course.root} && {jupyter} lab"),
        ("delete all of it", f"rm -r {course.root.parent}"),
        *([("learn", "make lab")] if make else []),
    ):
        say(f"{what + ':':<24}{line}")


def make_course(repository: Repository, folder: Path | None, lessons: Sequence[str]) -> tuple[Course, Path]:
    """A fresh nbgrader course with some lessons, and a folder for its exchange.

    Raises:
        GraderError: when `folder` holds something already.
    """
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="cellcheck-demo-"))
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        raise GraderError(f"{folder} is not empty: name a new folder for the demo.")
    root, exchange = folder / "course", folder / "exchange"
    root.mkdir(parents=True)
    exchange.mkdir()
    exchange.chmod(0o777)  # nbgrader wants an exchange that everyone can write to
    shutil.copy(repository.root / CONFIGURATION, root)
    with (root / CONFIGURATION).open("a", encoding="utf-8") as settings:  # for whoever opens Formgrader there
        settings.write(f"c.Exchange.root = {str(exchange)!r}\nc.Exchange.cache = {str(folder / 'cache')!r}\n")
    for lesson in lessons:
        if not repository.solution(lesson).is_file():
            raise GraderError(f"{lesson} has no notebooks yet: run cellcheck build first.")
        shutil.copytree(repository.solution(lesson).parent, root / "solutions" / lesson)
    return Course.open(root), exchange


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
