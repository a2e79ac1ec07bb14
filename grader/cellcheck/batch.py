"""Grading many submissions with progress; one that can't be graded costs itself only."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from cellcheck.errors import GraderError
from cellcheck.running import zygotes
from cellcheck.running.assignment import Assignment
from cellcheck.running.grade import grade, grade_submission
from cellcheck.running.handed_in import handed_in
from cellcheck.running.intake import Unreadable, read_file
from cellcheck.running.limits import Limits
from cellcheck.running.result import Failure, Result

LOG_SECONDS = 30.0  # between two lines about progress in a log


@dataclass(frozen=True)
class Job:
    """How a batch is graded: the same for all of it."""

    seed: int
    lesson: str | None = None
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    assignment: Assignment | None = None
    """As an instructor released it, where that is known."""
    hidden: tuple[str, ...] = ()
    """What submissions must not see here; see `cellcheck.running.zygotes.in_sight`."""


Done = tuple[Path, Result | Failure]
"""What came of a file."""


def grade_files(
    paths: Iterable[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]] = lambda path: {}
) -> Generator[Done, None, None]:
    """As `grade_in_groups`, one by one."""
    with closing(grade_in_groups(paths, job, others)) as groups:
        for group in groups:
            yield from group


def grade_in_groups(
    paths: Iterable[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]] = lambda path: {}
) -> Generator[list[Done], None, None]:
    """Grades files, `job.jobs` at a time, and yields what is done as soon as there is anything.

    While somebody is busy with a group, more gets done: the next group is the larger, the longer that took.

    Where the assignment is known, a path may also be the folder that holds a submission's notebooks. `others` gives the
    other files that were handed in with one. Whoever stops listening, by Ctrl-C, an error or `close()`, stops the work.
    """
    workers: set[int] = set()

    def one(path: Path) -> Result | Failure:
        workers.add(threading.get_ident())
        try:
            return grade_work(take(path, job, others(path)), job)
        except Exception as error:  # must not cost the others their marks
            return failure(str(path), error)

    ahead = iter(paths)
    with ThreadPoolExecutor(max(1, job.jobs)) as pool:
        running: dict[Future[Result | Failure], Path] = {}
        try:
            while True:
                # A few are waiting, so that nobody idles; not all, so that no more results than that lie about.
                for path in islice(ahead, 2 * job.jobs - len(running)):
                    running[pool.submit(one, path)] = path
                if not running:
                    return
                ready = wait(running, return_when=FIRST_COMPLETED).done
                yield [(running.pop(future), future.result()) for future in ready]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            zygotes.end_work_of(workers)  # what is being graded ends at once
            raise


@dataclass(frozen=True)
class Work:
    """A submission, read: with a `Job`, all that it takes to grade it."""

    name: str
    """What to call it in the result."""
    notebooks: Mapping[str, bytes | Unreadable]
    """What was handed in of the assignment's notebooks, by name. A lesson's by itself has none: its cells tell."""
    files: Mapping[str, bytes]
    """What was handed in beside notebooks, by path."""
    titles: frozenset[str]
    """The notebooks that are asked for."""


def take(handed: Path | bytes, job: Job, files: Mapping[str, bytes]) -> Work:
    """Reads a submission.

    Raises:
        Unreadable: when it can't be.
    """
    name = "" if isinstance(handed, bytes) else str(handed)
    if job.assignment is None:
        data = handed if isinstance(handed, bytes) else read_file(handed)
        return Work(name, {"": data}, files, frozenset())
    notebooks, asked = handed_in(handed, job.assignment)
    return Work(name, notebooks, files, frozenset(asked.notebooks))


def grade_work(work: Work, job: Job) -> Result:
    """Grades a submission.

    Raises:
        Unreadable: when there is nothing to grade.
    """
    if job.assignment is not None:
        return grade_submission(
            work.notebooks,
            job.assignment.only(work.titles),
            job.seed,
            name=work.name,
            files=work.files,
            limits=job.limits,
            hidden=job.hidden,
        )
    (data,) = work.notebooks.values()
    if isinstance(data, Unreadable):
        raise data
    return grade(
        data, job.seed, lesson=job.lesson, name=work.name, files=work.files, limits=job.limits, hidden=job.hidden
    )


def failure(name: str, error: Exception) -> Failure:
    """What to say of a submission that could not be graded."""
    if isinstance(error, GraderError):
        return Failure(name, str(error))
    if isinstance(error, OSError):
        return Failure(name, f"{error.filename or 'A file'} can't be used: {error.strerror or error}.")
    return Failure(name, f"The grader itself failed ({type(error).__name__}: {error}). Please report it.")


class _Rate(ProgressColumn):
    """Submissions a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if not speed else f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")


class _Log:
    """What a log says of progress, now and then: nobody watches it, and a bar would fill it."""

    def __init__(self, console: Console, what: str, total: int) -> None:
        self._console, self._what, self._total = console, what, total
        self._done = 0
        self._begun = self._said = time.monotonic()

    def advance(self, last: str) -> None:
        """One more thing is done."""
        self._done += 1
        now = time.monotonic()
        if now - self._said < LOG_SECONDS or self._done == self._total:
            return
        self._said = now
        rate = self._done / (now - self._begun)
        left = (self._total - self._done) / rate
        remaining = f"{left / 60:.0f} minutes" if left >= 90 else f"{left:.0f} seconds"
        each = f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} seconds each"
        line = f"{self._what}: {self._done} of {self._total}, {each}, {remaining} left"
        self._console.print(line, highlight=False, soft_wrap=True, markup=False)


@contextmanager
def progress(console: Console, what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar with count, rate and time left, or a line now and then where it can't be drawn, in a log.

    Call the yielded function once for each thing done.
    """
    if not (console.is_terminal or console.is_jupyter):
        yield _Log(console, what, total).advance
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}", markup=False),  # a file may be called "[/b].ipynb"
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total, last="")
        yield lambda last: bar.update(task, advance=1, last=last)
