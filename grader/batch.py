"""Grading many submissions with progress; one that can't be graded costs itself only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from grader.errors import GraderError
from grader.running import zygotes
from grader.running.grade import grade
from grader.running.intake import read_file
from grader.running.limits import Limits
from grader.running.result import Failure, OwnTest, Result


@dataclass(frozen=True)
class Job:
    """How a batch is graded: the same for all of it."""

    seed: int
    lesson: str | None = None
    jobs: int = 1
    limits: Limits = field(default_factory=Limits)
    own_tests: Mapping[str, OwnTest] = field(default_factory=dict)


def grade_files(
    paths: Sequence[Path], job: Job, others: Callable[[Path], dict[str, str]] = lambda path: {}
) -> Generator[tuple[Path, Result | Failure], None, None]:
    """Grades files, `job.jobs` at a time, and yields each as soon as it is done.

    `others` gives the other files that were handed in with one. Whoever stops listening, by Ctrl-C, an error or
    `close()`, stops the work.
    """
    workers: set[int] = set()

    def one(path: Path) -> Result | Failure:
        workers.add(threading.get_ident())
        try:
            files = others(path)
            data = read_file(path)
            return grade(
                data,
                job.seed,
                lesson=job.lesson,
                name=str(path),
                files=files,
                own_tests=job.own_tests,
                limits=job.limits,
            )
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
