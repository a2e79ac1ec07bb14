"""Grading many submissions with progress; one that can't be graded costs itself only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from grader.errors import GraderError
from grader.running import zygotes
from grader.running.assignment import Assignment
from grader.running.grade import grade, grade_plain
from grader.running.handed_in import handed_in
from grader.running.intake import read_file
from grader.running.limits import Limits
from grader.running.result import Failure, Result


@dataclass(frozen=True)
class Job:
    """How a batch is graded: the same for all of it."""

    seed: int
    lesson: str | None = None
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    assignment: Assignment | None = None
    """As an instructor released it, where that is known."""


def grade_files(
    paths: Sequence[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]] = lambda path: {}
) -> Generator[tuple[Path, Result | Failure], None, None]:
    """Grades files, `job.jobs` at a time, and yields each as soon as it is done.

    Of a plain assignment, a path may also be the folder that holds a submission's notebooks. `others` gives the other
    files that were handed in with one. Whoever stops listening, by Ctrl-C, an error or `close()`, stops the work.
    """
    workers: set[int] = set()

    def one(path: Path) -> Result | Failure:
        workers.add(threading.get_ident())
        try:
            return _graded(path, job, others(path))
        except GraderError as error:
            return Failure(str(path), str(error))
        except OSError as error:
            return Failure(str(path), f"{error.filename or 'A file'} can't be used: {error.strerror or error}.")
        except Exception as error:  # a fault of ours must not cost the others their marks
            return Failure(str(path), f"The grader itself failed ({type(error).__name__}: {error}). Please report it.")

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
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            zygotes.end_work_of(workers)  # what is being graded ends at once
            raise


def _graded(path: Path, job: Job, files: Mapping[str, bytes]) -> Result:
    known, name, limits = job.assignment, str(path), job.limits
    if known is not None and known.lesson is None:
        notebooks, known = handed_in(path, known)
        return grade_plain(notebooks, known, name=name, files=files, limits=limits)
    own = known.tests(known.name) if known is not None else ()
    result = grade(read_file(path), job.seed, lesson=job.lesson, name=name, files=files, own_tests=own, limits=limits)
    if known is None or not known.plain.notebooks:
        return result
    # The instructor has put plain notebooks beside the lesson's.
    notebooks, _ = handed_in(path.parent, known.plain)
    beside = grade_plain(notebooks, known.plain, files=files, limits=limits, needed=False)
    return replace(
        result,
        own_tests=(*result.own_tests, *beside.own_tests),
        repairs=(*result.repairs, *beside.repairs),
        seconds=result.seconds + beside.seconds,
    )


class _Rate(ProgressColumn):
    """Submissions a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if not speed else f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")


@contextmanager
def progress(console: Console, what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar with count, rate and time left; call the yielded function once for each thing done."""
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
