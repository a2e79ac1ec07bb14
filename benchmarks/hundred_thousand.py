"""A hundred thousand submissions through the cluster's own machinery: is it flat to the end, whoever dies?

    python -m benchmarks.hundred_thousand                     # some minutes
    python -m benchmarks.hundred_thousand --count 10000
    python -m benchmarks.hundred_thousand --kilobytes 80 --answer 60

Nothing is graded: each submission is a kilobyte, or as much as is asked for, and so is its answer. All else is as in a
real run, from the first message to the last, and now and then a worker is killed. What counts is that the end costs no
more than the beginning, and that each submission is answered once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import psutil
from distributed import get_worker
from distributed.utils import sync
from rich.console import Console
from rich.table import Table

from cellcheck.batch import Job, Work
from cellcheck.cluster import client, messages, worker
from cellcheck.running.assignment import Assignment
from cellcheck.running.result import Failure

ROWS = 10
_NUMBER = 8  # bytes: in them a submission says how long its answer is


@dataclass(frozen=True)
class Row:
    """A part of a run: where it ended, and what each of its submissions cost."""

    done: int
    seconds: float
    """On the clock, since the run began."""
    scheduler_mb: float
    scheduler_ms: float
    """Of processor time, for one submission."""
    own_mb: float
    own_ms: float


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    rows: Sequence[Row]
    once: int
    """The submissions that were answered once."""
    killed: int
    """The workers that were."""


def ready(message: bytes) -> bytes:
    """In place of a worker's look at itself: this one may always grade."""
    here = get_worker()
    sync(here.loop, here.set_resources, **{worker.resource(json.loads(message)["code"]): here.state.nthreads})
    return b'{"refused": ""}'


def nothing_graded(_: bytes, works: bytes) -> bytes:
    """In place of grading: an answer for each submission, as long as it asks for."""
    wanted = (next(iter(work.notebooks.values())) for work in messages.works(works))
    lengths = (int.from_bytes(data[:_NUMBER], "big") for data in wanted if isinstance(data, bytes))
    return messages.of_answers([Failure("", "x" * length) for length in lengths])


def taken(sent: int, answered: int, path: Path, _: Job, files: Mapping[str, bytes]) -> Work:
    """In place of reading a submission: so many bytes, which ask for so many."""
    return Work(str(path), {"": answered.to_bytes(_NUMBER, "big") + os.urandom(sent)}, files, frozenset())


def kill_one(nannies: psutil.Process) -> None:
    """Kills a worker. Its nanny starts another one."""
    with contextlib.suppress(psutil.Error):
        workers = [p for p in nannies.children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
        max(workers, key=lambda process: process.num_threads()).kill()


def measure(count: int, workers: int, deaths: int, folder: Path, sent: int = 1000, answered: int = 1000) -> Run:
    """So many submissions of `sent` bytes, with answers of `answered`; a row for each tenth of the run."""
    from benchmarks.cluster import cluster

    job = Job(1, assignment=Assignment("nothing", {}, None, {}))
    answers = bytearray(count)  # how often each was answered
    rows: list[Row] = []
    done = done_before = killed = 0
    with (
        _nothing_is_graded(sent, answered),
        cluster(folder, workers) as (file, scheduler, nannies),
        client.connected(str(file), print) as graded_by,
    ):
        parts, begun = (scheduler, psutil.Process()), time.monotonic()
        before: Sequence[float] = [_cpu(part) for part in parts]
        for group in graded_by((Path(str(number)) for number in range(count)), job, lambda _: {}):
            for path, _ in group:
                answers[int(path.name)] += 1
            done += len(group)
            if done * (deaths + 1) >= count * (killed + 1) and killed < deaths:
                kill_one(nannies)
                killed += 1
            if done * ROWS >= count * (len(rows) + 1):
                now, some = [_cpu(part) for part in parts], done - done_before
                memory = [part.memory_info().rss / 1e6 for part in parts]
                each = [1000 * (used - earlier) / some for used, earlier in zip(now, before, strict=True)]
                rows.append(Row(done, time.monotonic() - begun, memory[0], each[0], memory[1], each[1]))
                before, done_before = now, done
    return Run(rows, sum(times == 1 for times in answers), killed)


@contextlib.contextmanager
def _nothing_is_graded(sent: int, answered: int) -> Iterator[None]:
    """Submissions are made up here, and workers answer without looking at them."""
    from benchmarks import hundred_thousand  # a worker finds these functions by the module's name

    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    with (
        mock.patch.dict(os.environ, PYTHONPATH=path),
        mock.patch.object(worker, "get_ready", hundred_thousand.ready),
        mock.patch.object(worker, "grade_some", hundred_thousand.nothing_graded),
        mock.patch.object(client, "take", partial(taken, sent, answered)),
    ):
        yield


def as_table(run: Run, count: int, workers: int) -> Table:
    """The run's rows, and whether each submission was answered once."""
    table = Table(title=f"{count:,} submissions that nobody grades, {workers} workers", box=None)
    columns = ("done", "clock, s", "scheduler, MB", "scheduler, CPU ms each", "this side, MB", "this side, CPU ms each")
    for column in columns:
        table.add_column(column, justify="right")
    for row in run.rows:
        numbers = (f"{row.scheduler_mb:.0f}", f"{row.scheduler_ms:.2f}", f"{row.own_mb:.0f}", f"{row.own_ms:.2f}")
        table.add_row(f"{row.done:,}", f"{row.seconds:.0f}", *numbers)
    table.caption = f"answered once: {run.once:,} of {count:,}; workers killed: {run.killed}"
    return table


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def main() -> None:
    """Runs it, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--deaths", type=int, default=5)
    parser.add_argument("--kilobytes", type=float, default=1, help="of a submission")
    parser.add_argument("--answer", type=float, default=1, help="kilobytes of an answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes = (int(1000 * options.kilobytes), int(1000 * options.answer))
        run = measure(options.count, options.workers, options.deaths, Path(folder), *sizes)
    Console(width=140).print(as_table(run, options.count, options.workers))


if __name__ == "__main__":
    main()
