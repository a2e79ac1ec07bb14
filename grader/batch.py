"""Grading many files with progress; one that can't be graded costs itself only."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grader.errors import GraderError
from grader.running.grade import Result, grade
from grader.running.intake import read_file
from grader.running.limits import Limits


@dataclass(frozen=True)
class Failure:
    """A file that could not be graded, and the sentence that says why."""

    notebook: str
    message: str


def hidden_seed() -> int:
    """A seed that nobody knows beforehand."""
    return secrets.randbits(32)


def grade_files(
    paths: Sequence[Path], seed: int, *, lesson: str | None = None, jobs: int = 1, limits: Limits | None = None
) -> Iterator[tuple[Path, Result | Failure]]:
    """Grades files, `jobs` at a time, and yields each as soon as it is done."""

    def one(path: Path) -> Result | Failure:
        try:
            return grade(read_file(path), seed, lesson=lesson, name=str(path), limits=limits)
        except GraderError as error:
            return Failure(str(path), str(error))
        except Exception as error:  # a fault of ours must not cost the others their marks
            return Failure(str(path), f"The grader itself failed ({type(error).__name__}: {error}). Please report it.")

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = {pool.submit(one, path): path for path in paths}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


@contextmanager
def progress(console: Console, what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar with count and time left; call the yielded function once for each thing done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total, last="")
        yield lambda last: bar.update(task, advance=1, last=last)


def in_order(paths: Sequence[Path], outcomes: Iterable[tuple[Path, Result | Failure]]) -> list[Result | Failure]:
    """The outcomes in the order of `paths`."""
    found = dict(outcomes)
    return [found[path] for path in paths]
