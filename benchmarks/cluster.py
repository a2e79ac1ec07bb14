"""What a large class costs: thousands of submissions through `cellcheck autograde --cluster`, on one machine.

    python -m benchmarks.cluster                                          # 10,000 submissions: half an hour or more
    python -m benchmarks.cluster --lesson 02_tokenizer=240 --lesson 03_classification_transformer=60

It writes two files, cluster.csv (a line each few seconds) and cluster.png (cost, memory and descriptors against the
number of submissions done), measures how fast the gradebook is written, and extrapolates. Machines differ and are busy:
seconds here are the processor's, not the clock's, unless it says so.
"""

import argparse
import contextlib
import csv
import inspect
import itertools
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO

import matplotlib
import pandas as pd
import psutil
from rich.console import Console
from rich.table import Table

from cellcheck.audit.mutants import mutants
from cellcheck.demo.learners import Learner
from cellcheck.demo.run import make_course
from cellcheck.gradebook.autograde import TOGETHER
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.draft import Draft, draft
from cellcheck.gradebook.journal import Journal
from cellcheck.gradebook.writer import Graded, Writer
from cellcheck.repository import Repository
from cellcheck.running.grade import grade
from cellcheck.running.plain_cells import cells_of
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson

matplotlib.use("agg")
import matplotlib.pyplot as plt
import seaborn as sns

USUAL = ("02_tokenizer=8000", "03_classification_transformer=2000")
LARGE = 100_000
SEED = 1
VARIANTS = 400  # different notebooks; learners beyond that hand in what another one did
EVERY = 2.0  # seconds between two looks


# --- a class ------------------------------------------------------------------------------------------------------


def learner(lesson: str, number: int) -> Learner:
    """One of three: all is right; half-way through; a slip or two, made from the course's own answers."""
    exercises = load_lesson(lesson).exercises
    draw = random.Random(number)
    name = f"learner{number:06}"
    if number % 3 == 0:
        return Learner(name, lesson)
    if number % 3 == 1:
        return Learner(name, lesson, begins=draw.randrange(len(exercises)))
    slips = {}
    for exercise in draw.sample(exercises, draw.randint(1, 2)):
        changed = mutants(inspect.getsource(exercise.references[0]))
        if changed:
            slips[exercise.symbol] = draw.choice(changed).source
    return Learner(name, lesson, types=slips)


def course_with(repository: Repository, folder: Path, lesson: str, count: int) -> Course:
    """A course in which so many learners have handed in."""
    course, _ = make_course(repository, folder, (lesson,))
    course.ensure_assignment(lesson)
    released = (course.root / "notebooks" / lesson / f"{lesson}.ipynb").read_text("utf-8")
    texts = [learner(lesson, number).hand_in(released) for number in range(min(count, VARIANTS))]
    for number in range(count):
        place = course.submission(f"learner{number:06}", lesson)
        place.mkdir(parents=True)
        (place / f"{lesson}.ipynb").write_text(texts[number % len(texts)], "utf-8")
    return course


# --- a cluster ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[Path, psutil.Process, psutil.Process]]:
    """A scheduler and nannied workers, as from a shell: the scheduler's file, and both processes."""
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    dask = [sys.executable, "-m", "dask"]
    where = ["--scheduler-file", str(file)]
    with contextlib.ExitStack() as started:

        def start(*command: str) -> psutil.Process:
            process = started.enter_context(subprocess.Popen([*dask, *command, *where], **quiet))  # type: ignore[call-overload]
            started.callback(process.terminate)
            return psutil.Process(process.pid)

        scheduler = start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        while not file.exists():
            time.sleep(0.1)
        nannies = start("worker", "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard")
        yield file, scheduler, nannies


@dataclass
class Look:
    """How things stand at one moment of a run."""

    lesson: str
    seconds: float
    """On the clock, since the run began."""
    done: int
    writer_mb: float
    """Memory of `cellcheck autograde`."""
    worker_mb: float
    """That of the largest worker."""
    warm_mb: float
    """That of the largest warm process."""
    scheduler_mb: float
    writer_files: int
    """Open descriptors."""
    worker_files: int
    writer_cpu: float
    """Processor seconds so far."""
    workers_cpu: float
    """With learners' processes, but without those that read files."""


def look(lesson: str, begun: float, done: int, parts: Sequence[psutil.Process]) -> Look:
    """Looks at the run's processes."""
    writer, scheduler, nannies = parts
    workers = [
        p for p in nannies.children(recursive=True) if p.num_threads() > 2 and "spawn_main" in " ".join(p.cmdline())
    ]
    warm = [p for p in nannies.children(recursive=True) if "cellcheck.running.zygote" in p.cmdline()]
    return Look(
        lesson,
        round(time.monotonic() - begun, 1),
        done,
        _megabytes(writer),
        max(map(_megabytes, workers), default=0.0),
        max(map(_megabytes, warm), default=0.0),
        _megabytes(scheduler),
        writer.num_fds(),
        max((p.num_fds() for p in workers), default=0),
        _cpu(writer),
        round(sum(_cpu(p) for p in [*workers, *warm]), 2),
    )


def _megabytes(process: psutil.Process) -> float:
    return round(process.memory_info().rss / 1e6, 1)


def _cpu(process: psutil.Process) -> float:
    """Its processor seconds, with those of children that have ended."""
    times = process.cpu_times()
    return round(times.user + times.system + times.children_user + times.children_system, 2)


def watched(
    course: Course, lesson: str, file: Path, others: Sequence[psutil.Process], log_file: Path, table: IO[str]
) -> list[Look]:
    """Grades a class on the cluster, and looks at it every few seconds; `table` gets a line each time."""
    rows = csv.DictWriter(table, [field.name for field in fields(Look)], lineterminator="\n")
    if not table.tell():
        rows.writeheader()
    command = [sys.executable, "-m", "cellcheck", "autograde", lesson, "--seed", str(SEED), "--cluster", str(file)]
    journal = course.root / ".cellcheck" / f"{lesson}.jsonl"
    looks, done, at = [], 0, 0
    total = sum(1 for _ in course.root.glob("submitted/*"))
    with log_file.open("w") as log:
        begun = time.monotonic()
        run = subprocess.Popen(command, cwd=course.root, stdout=log, stderr=log)
        process = psutil.Process(run.pid)
        while run.poll() is None:
            with contextlib.suppress(OSError), journal.open("rb") as lines:
                lines.seek(at)
                new = lines.read()
                at += len(new)
                done += new.count(b"\n")
            with contextlib.suppress(psutil.Error):  # gone between two lines
                if done <= total:  # then it only prints what came of them
                    looks.append(look(lesson, begun, max(0, done - 1), (process, *others)))
                    rows.writerow(asdict(looks[-1]))
                    table.flush()  # a run takes long, and may be stopped
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(EVERY)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{shutil.which('cellcheck')} ended with {run.returncode}: {log_file.read_text()[-2000:]}")
    return looks


# --- the gradebook ------------------------------------------------------------------------------------------------


def writer_table(course: Course, lesson: str, count: int = 300) -> tuple[Table, float]:
    """How many submissions a second are written, one at a time and together; and the seconds of one, together."""
    students = course.students(lesson)[:count]
    count = len(students)
    notebooks = {s: (course.submission(s, lesson) / f"{lesson}.ipynb").read_bytes() for s in students}
    with course.gradebook() as gradebook:
        assignment = Writer(course, gradebook, lesson, load_lesson(lesson)).assignment
    pairs: list[tuple[Result, Draft]] = []
    for student in students[:9]:
        result = grade(notebooks[student], SEED, lesson=lesson)
        pairs.append((result, draft(assignment, {lesson: notebooks[student]}, result)))
    graded = [Graded(student, *pairs[place % len(pairs)]) for place, student in enumerate(students)]
    table = Table(title=f"writing {count} graded submissions of {lesson}", box=None)
    for column in ("gradebook", "together", "a second", "milliseconds each", "of them the gradebook's"):
        table.add_column(column, justify="left" if column == "gradebook" else "right")
    each = 0.0
    for name, address in _databases():
        for together in (1, TOGETHER):
            seconds, book = _write(_copy(course, address()), lesson, graded, together)
            table.add_row(
                name,
                str(together),
                f"{count / seconds:.0f}",
                f"{1000 * seconds / count:.1f}",
                f"{1000 * book / count:.1f}",
            )
            each = max(each, seconds / count) if together > 1 else each
    return table, each


def _databases() -> Iterator[tuple[str, object]]:
    from tests.postgres import running

    yield "SQLite", lambda: ""
    with running() as server:
        yield "PostgreSQL", server.new


def _copy(course: Course, address: str) -> Course:
    """The course with an empty gradebook, at an address."""
    root = Path(tempfile.mkdtemp(dir=course.root.parent)) / "course"
    shutil.copytree(
        course.root, root, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback", ".cellcheck")
    )
    (root / "gradebook.db").unlink(missing_ok=True)
    if address:
        with (root / "nbgrader_config.py").open("a") as config:
            config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")
    return Course.open(root)


def _write(course: Course, lesson: str, graded: Sequence[Graded], together: int) -> tuple[float, float]:
    """Seconds on the clock that writing takes, and how much of it the database."""
    course.ensure_assignment(lesson)
    spent = 0.0
    with course.alone(), course.gradebook() as gradebook:
        writer, journal = Writer(course, gradebook, lesson, load_lesson(lesson)), Journal(course.root, lesson)
        journal.begin(SEED)
        write = writer.book.write

        def timed(entries: object) -> None:
            nonlocal spent
            start = time.perf_counter()
            write(entries)  # type: ignore[arg-type]
            spent += time.perf_counter() - start

        writer.book.write = timed  # type: ignore[method-assign]
        start = time.perf_counter()
        for at in range(0, len(graded), together):
            some = graded[at : at + together]
            writer.write(some)
            journal.add((one.student, "", one.result) for one in some)
        return time.perf_counter() - start, spent


# --- what it says -------------------------------------------------------------------------------------------------


def per_submission(looks: pd.DataFrame, window: int) -> pd.DataFrame:
    """Processor milliseconds of each submission, in windows of so many: the workers', and the writer's."""
    parts = []
    for lesson, of_lesson in looks.groupby("lesson", sort=False):
        rows = of_lesson.groupby(of_lesson["done"] // window).first()
        change = rows[["done", "writer_cpu", "workers_cpu"]].diff().iloc[1:]
        for name in ("writer", "workers"):
            cost = 1000 * change[f"{name}_cpu"] / change["done"]
            parts.append(
                pd.DataFrame({"lesson": lesson, "done": rows["done"].iloc[1:], "who": name, "milliseconds": cost})
            )
    return pd.concat(parts, ignore_index=True)


def plot(looks: pd.DataFrame, path: Path) -> None:
    """Cost, memory and descriptors against the number of submissions done; a column for each lesson."""
    sns.set_theme(context="paper", style="whitegrid", palette="colorblind")
    lessons = list(dict.fromkeys(looks["lesson"]))
    figure, axes = plt.subplots(3, len(lessons), figsize=(5 * len(lessons), 8), sharex="col", squeeze=False)
    memory = {
        "writer_mb": "cellcheck autograde",
        "worker_mb": "a worker",
        "warm_mb": "a warm process",
        "scheduler_mb": "the scheduler",
    }
    files = {"writer_files": "cellcheck autograde", "worker_files": "a worker"}
    for column, lesson in zip(axes.T, lessons, strict=True):
        rows = looks[looks["lesson"] == lesson]
        cost = per_submission(rows, max(1, int(rows["done"].max()) // 40))
        cost["who"] = cost["who"].map({"workers": "workers", "writer": "cellcheck autograde"})
        sns.lineplot(
            cost, x="done", y="milliseconds", hue="who", hue_order=["cellcheck autograde", "workers"], ax=column[0]
        )
        column[0].set(title=lesson, ylabel="processor time of one, ms", yscale="log")
        for axis, series, unit in ((column[1], memory, "memory, MB"), (column[2], files, "open descriptors")):
            long = rows.rename(columns=series).melt(["lesson", "done"], list(series.values()), "process", unit)
            sns.lineplot(long, x="done", y=unit, hue="process", estimator=None, ax=axis)
            axis.set(xlabel="submissions done", ylim=(0, None))
        for axis in column:
            axis.legend(fontsize="small", frameon=True, framealpha=0.9, title=None)
    figure.tight_layout()
    figure.savefig(path, dpi=100, metadata={"Software": None})


def extrapolated(looks: pd.DataFrame, writing: float, reading: dict[str, float]) -> list[str]:
    """What so many would cost, with the arithmetic, line by line."""
    lines = []
    for lesson, rows in looks[looks["done"] > 0].groupby("lesson", sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        done = last["done"]
        count = done - first["done"]
        judging = (last["workers_cpu"] - first["workers_cpu"]) / count + reading[str(lesson)]
        taking = (last["writer_cpu"] - first["writer_cpu"]) / count
        clock = (last["seconds"] - first["seconds"]) / count
        lines += [
            f"{lesson}: {done} submissions in {last['seconds'] / 60:.0f} minutes, {clock:.2f} s each on the clock",
            f"  the workers' processors: {judging:.3f} s each; that of cellcheck autograde: {taking:.3f} s each",
            f"  {LARGE:,} x {judging:.3f} s / 3600 = {LARGE * judging / 3600:.1f} core hours of workers",
            f"  {LARGE:,} x {taking:.3f} s / 3600 = {LARGE * taking / 3600:.1f} hours of autograde, one process",
            f"  {judging:.3f} s / {taking:.3f} s = {judging / taking:.0f} cores of workers keep it busy",
        ]
        parts = (rows[rows["done"] <= done / 3], rows[rows["done"] >= done * 2 / 3])
        for who in ("workers", "writer"):
            costs = [1000 * _slope(part, f"{who}_cpu") for part in parts]
            lines.append(f"  {who}: {costs[0]:.0f} ms each in the first third, {costs[1]:.0f} ms in the last")
        later = rows[rows["done"] >= done / 10]
        for name in ("writer_mb", "worker_mb", "warm_mb", "scheduler_mb", "writer_files", "worker_files"):
            lines.append(f"  {name}: {later[name].iloc[0]:.0f} after a tenth, {later[name].iloc[-1]:.0f} at the end")
    lines.append(f"writing alone: {LARGE:,} x {writing:.4f} s / 3600 = {LARGE * writing / 3600:.1f} hours on the clock")
    return lines


def _slope(rows: pd.DataFrame, column: str) -> float:
    """How much it grows with each submission."""
    if len(rows) < 2 or rows["done"].iloc[-1] == rows["done"].iloc[0]:
        return float("nan")
    return float((rows[column].iloc[-1] - rows[column].iloc[0]) / (rows["done"].iloc[-1] - rows["done"].iloc[0]))


def measure(
    repository: Repository, classes: Sequence[tuple[str, int]], workers: int, folder: Path, out: Path, console: Console
) -> None:
    """Grades classes, made in `folder`, with so many workers; says what it cost, and draws it in `out`."""
    looks: list[Look] = []
    reading = {}
    courses = [course_with(repository, folder / lesson, lesson, count) for lesson, count in classes]
    for (lesson, _), course in zip(classes, courses, strict=True):
        data = next(course.root.glob(f"submitted/*/{lesson}/*.ipynb")).read_bytes()
        start = time.process_time()
        for _ in range(20):
            json.dumps(cells_of(data))
        reading[lesson] = (time.process_time() - start) / 20
    table, writing = writer_table(courses[0], classes[0][0])
    console.print(table)
    with cluster(folder, workers) as (file, *others), (out / "cluster.csv").open("w", newline="") as csv_file:
        for (lesson, _), course in zip(classes, courses, strict=True):
            log = out / f"cluster-{lesson}.log"
            looks += watched(course, lesson, file, others, log, csv_file)
            failures = [line for line in log.read_text().splitlines() if "not used" in line or "disagrees" in line]
            console.print(*itertools.islice(failures, 5), sep="\n", highlight=False)
    frame = pd.DataFrame(map(asdict, looks))
    plot(frame, out / "cluster.png")
    console.print(*extrapolated(frame, writing, reading), sep="\n", highlight=False)


def main() -> None:
    """Runs it all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lesson", action="append", metavar="NAME=COUNT", help="a class; several may be named")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="the folder for cluster.csv and cluster.png"
    )
    parser.add_argument("--folder", type=Path, help="where the classes are made: a megabyte for each submission")
    options = parser.parse_args()
    classes = [(name, int(count)) for name, _, count in (text.partition("=") for text in options.lesson or USUAL)]
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        repository = Repository.find(Path(__file__).parent)
        measure(repository, classes, options.workers, Path(temporary), options.out, Console(width=140))


if __name__ == "__main__":
    main()
