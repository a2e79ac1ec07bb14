"""What a hundred cores would take for a hundred thousand submissions: on paper, from parts that are measured here.

    python -m benchmarks.hundred_cores             # all lessons: ten minutes
    python -m benchmarks.hundred_cores 02 03       # two of them

Each part is measured by itself and on one core: what a worker does for a submission, what `cellcheck autograde` does
for it, what Dask's scheduler does. All is processor time, so a busy machine changes little. The slowest part decides.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks import hundred_thousand
from benchmarks.cluster import course_with
from cellcheck.batch import Job, Work, grade_work, take
from cellcheck.cluster import messages
from cellcheck.gradebook.autograde import TOGETHER
from cellcheck.gradebook.draft import Drafted, draft
from cellcheck.gradebook.journal import Journal, basis, digest
from cellcheck.gradebook.writer import Graded, Writer
from cellcheck.repository import Repository
from cellcheck.running.handed_in import other_files, readable
from cellcheck.syllabus import find_lesson, lesson_names, load_lesson

CORES = 100
LARGE = 100_000
SEED = 1
GRADED = 9  # different submissions; what one costs is their mean
WRITTEN = 2 * TOGETHER  # in two transactions


@dataclass(frozen=True)
class Parts:
    """What one submission of a lesson costs, in milliseconds of processor time, and how long its messages are."""

    lesson: str
    worker: float
    """Judging and drafting, the learner's own process included."""
    reading: float
    """The rest is what `cellcheck autograde` does: here it reads what was handed in, and packs it up."""
    unpacking: float
    files: float
    """Notebooks and pages."""
    gradebook: float
    journal: float
    sent: int
    answered: int

    @property
    def autograde(self) -> float:
        """All that `cellcheck autograde` does, without Dask's share."""
        return self.reading + self.unpacking + self.files + self.gradebook + self.journal


class _Clock:
    """Sums up processor milliseconds, those of processes that were started here included."""

    def __init__(self) -> None:
        self.spent = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        start = _now()
        yield
        self.spent += _now() - start


def _now() -> float:
    times = [process.cpu_times() for process in (psutil.Process(), *psutil.Process().children(recursive=True))]
    return 1000 * sum(t.user + t.system + t.children_user + t.children_system for t in times)


def parts_of(repository: Repository, folder: Path, lesson: str) -> Parts:
    """Measures each part for a lesson, in a class made in `folder`."""
    course = course_with(repository, folder, lesson, WRITTEN)
    students = course.students(lesson)
    folders = [course.submission(student, lesson) for student in students]
    reading, judging, unpacking, journalling, writing = (_Clock() for _ in range(5))
    with course.alone(), course.gradebook() as gradebook:
        writer = Writer(course, gradebook, lesson, load_lesson(lesson))
        job = Job(SEED, assignment=writer.assignment)
        judged_by = basis(writer.assignment)
        with reading.running():
            for one in folders:
                digest(one, judged_by)
                sent = messages.of_works([take(one, job, other_files(one))])
        answers, sizes = _graded(folders, job, judging)
        with unpacking.running():
            back = [messages.answers(answers[n % GRADED], [str(one)])[0] for n, one in enumerate(folders)]
        drafted = [answer for answer in back if isinstance(answer, Drafted)]
        graded = [Graded(s, d.result, d.draft) for s, d in zip(students, drafted, strict=True)]
        with writing.running():
            gradebook_ms = _write(writer, graded)
        journal = Journal(course.root, lesson)
        journal.begin(SEED)
        with journalling.running():
            for at in range(0, WRITTEN, TOGETHER):
                journal.add((one.student, "", one.result) for one in graded[at : at + TOGETHER])
    per_written = [clock.spent / WRITTEN for clock in (reading, unpacking, journalling, writing)]
    return Parts(
        lesson,
        judging.spent / GRADED,
        per_written[0],
        per_written[1],
        per_written[3] - gradebook_ms / WRITTEN,
        gradebook_ms / WRITTEN,
        per_written[2],
        len(sent),
        statistics.mean(sizes).__ceil__(),
    )


def _graded(folders: Sequence[Path], job: Job, clock: _Clock) -> tuple[list[bytes], list[int]]:
    """What a worker answers on the first submissions, and how long it is.

    All are graded twice, and the second time counts: what a mistake does is found out once, when it first may be one.
    """

    def answer(message: bytes) -> bytes:
        (work,) = messages.works(message)
        return messages.of_answers([_drafted(work, job)])

    sent = [messages.of_works([take(one, job, other_files(one))]) for one in folders[:GRADED]]
    for message in sent:
        answer(message)
    with clock.running():
        answers = [answer(message) for message in sent]
    return answers, [len(one) for one in answers]


def _drafted(work: Work, job: Job) -> Drafted:
    assert job.assignment is not None
    result = grade_work(work, job)
    return Drafted(result, draft(job.assignment, readable(work.notebooks), result))


def _write(writer: Writer, graded: Sequence[Graded]) -> float:
    """Writes them, a transaction for each part; the milliseconds that the gradebook took."""
    book, write = _Clock(), writer.book.write

    def timed(entries: Any) -> None:
        with book.running():
            write(entries)

    writer.book.write = timed  # type: ignore[method-assign]
    for at in range(0, len(graded), TOGETHER):
        writer.write(graded[at : at + TOGETHER])
    return book.spent


# --- what Dask costs ----------------------------------------------------------------------------------------------


def dask_ms(folder: Path, sent: int, answered: int) -> tuple[float, float]:
    """Milliseconds for one submission with messages of this length: the scheduler's, and those of this side."""
    rows = hundred_thousand.measure(1000, 2, 0, folder, sent, answered).rows[1:]  # the first has the start in it
    return statistics.median(row.scheduler_ms for row in rows), statistics.median(row.own_ms for row in rows)


# --- what it says -------------------------------------------------------------------------------------------------


def parts_table(parts: Sequence[Parts]) -> Table:
    """A row for each lesson."""
    table = Table(title="one submission: milliseconds of processor time, kilobytes of messages", box=None)
    names = ("worker", "reading", "unpacking", "files", "gradebook", "journal")
    table.add_column("lesson")
    for column in (*names, "kB sent", "kB answered"):
        table.add_column(column, justify="right")
    for one in parts:
        numbers = (one.worker, one.reading, one.unpacking, one.files, one.gradebook, one.journal)
        kilobytes = (f"{one.sent / 1000:.0f}", f"{one.answered / 1000:.0f}")
        table.add_row(one.lesson[:2], f"{one.worker:.0f}", *(f"{number:.1f}" for number in numbers[1:]), *kilobytes)
    return table


def paper_table(parts: Sequence[Parts], scheduler: float, own: float) -> Table:
    """What `CORES` cores of workers would do: who is busy to which share, and when `LARGE` submissions are done."""
    title = f"{LARGE:,} submissions on {CORES} cores of workers, on paper"
    table = Table(title=title, box=None)
    table.add_column("lesson")
    columns = (
        *("they could grade, a second", "autograde would be busy, %", "the scheduler, %", "network, MB/s"),
        *("cores that keep autograde busy", "minutes", "decided by"),
    )
    for column in columns:
        table.add_column(column, justify="right")
    for one in parts:
        each = {"workers": one.worker / CORES, "autograde": one.autograde + own, "scheduler": scheduler}
        rate = 1000 / each["workers"]
        slowest = max(each, key=lambda part: each[part])
        table.add_row(
            one.lesson[:2],
            f"{rate:.0f}",
            f"{rate * each['autograde'] / 10:.0f}",
            f"{rate * scheduler / 10:.0f}",
            f"{(one.sent + one.answered) * 1000 / each[slowest] / 1e6:.0f}",
            f"{one.worker / each['autograde']:.0f}",
            f"{LARGE * each[slowest] / 60_000:.0f}",
            slowest,
        )
    table.caption = f"Dask itself, for each submission: {scheduler:.2f} ms in the scheduler, {own:.2f} ms in autograde"
    return table


def main() -> None:
    """Measures, and prints both tables."""
    repository, console = Repository.find(Path(__file__).parent), Console(width=140)
    lessons = [find_lesson(number)[1] for number in sys.argv[1:]] or lesson_names()
    with tempfile.TemporaryDirectory() as folder:
        parts = [parts_of(repository, Path(folder, lesson), lesson) for lesson in lessons]
        console.print(parts_table(parts), "")
        sizes = (int(statistics.mean(one.sent for one in parts)), int(statistics.mean(one.answered for one in parts)))
        cluster_folder = Path(folder, "cluster")
        cluster_folder.mkdir()
        console.print(paper_table(parts, *dask_ms(cluster_folder, *sizes)))


if __name__ == "__main__":
    main()
