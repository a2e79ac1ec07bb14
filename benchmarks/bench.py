"""`make bench`: what a check, a build and a graded notebook cost, each beside what it stands against.

Machines differ and are busy: look at the ratios, which come from one run.

    python -m benchmarks.bench                                          # half an hour
    python -m benchmarks.bench --only nbgrader --lesson 03              # a row of a table
    python -m benchmarks.bench --only questions --lesson 03 --lesson 08 # what these lessons' questions cost
    python -m benchmarks.bench --count 3 --few 2 --large 20             # only whether it runs
"""

import argparse
import contextlib
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from benchmarks import cluster
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.spec import Exercise
from cellcheck.batch import progress
from cellcheck.building.build import out_of_step
from cellcheck.checking.check import Checker
from cellcheck.checking.judge import Judge
from cellcheck.demo.learners import Learner
from cellcheck.demo.run import make_course
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.running.cells import Cell
from cellcheck.running.grade import grade
from cellcheck.running.intake import read_submission
from cellcheck.running.limits import Limits
from cellcheck.running.session import Session
from cellcheck.running.setting import setting_of
from cellcheck.sandbox import kernel
from cellcheck.syllabus import find_lesson, lesson_names, load_lesson, load_probes

BUILT = "01_pytorch_basics"
GRADED = "03_classification_transformer"
ON_A_CLUSTER = (("02_tokenizer", 240), (GRADED, 60))
SEED = 1
TABLES = ("nbgrader", "shell", "one", "large", "questions", "checks", "cluster")
AT_ONCE = 0.2  # seconds: what feels like an answer at once; an exercise that trains a model may take longer


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Median time of `work`, in seconds, after one run that warms it up."""
    work()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def checks_table() -> Table:
    """A row per exercise: a right answer, and the slowest of its wrong ones. One that is slow to answer is marked."""
    table = Table(title="one check, milliseconds", box=None)
    for column in ("lesson", "exercise", "right answer", "slowest wrong answer", ""):
        table.add_column(column, justify="right" if "answer" in column else "left")
    for lesson in lesson_names():
        check = Checker(lesson)
        for exercise in check.lesson.exercises:
            judged = partial(check.verdict, exercise.symbol)
            right = seconds(partial(judged, next(iter(exercise.variants.values()))))
            wrong = max(seconds(partial(judged, mistake.implementation), 1) for mistake in exercise.mistakes)
            slow = f"over {1000 * AT_ONCE:.0f}" if max(right, wrong) > AT_ONCE else ""
            table.add_row(lesson[:2], exercise.symbol, f"{1000 * right:.0f}", f"{1000 * wrong:.0f}", slow)
    return table


QUESTION, EXERCISE, FIRST = 5.0, 30.0, 300.0
"""Milliseconds of processor time that a question, all of an exercise's, and its first check should stay below."""


def questions_table(lessons: Sequence[str] = lesson_names()) -> Table:
    """What a right answer's questions cost, a row per exercise: the dearest, all together, and the first check."""
    table = Table(title="questions of one right answer, milliseconds of processor time", box=None)
    for column in ("lesson", "exercise", "questions", "the dearest", "all", "the first check", "over"):
        table.add_column(column, justify="left" if column in ("exercise", "over") else "right")
    for lesson in lessons:
        exercises, probes = load_lesson(lesson).exercises, load_probes(lesson)
        for exercise in exercises:
            first, *costs = _in_a_fork(partial(_costs, exercise, probes[exercise.symbol]))
            limits = ((max(costs), QUESTION, "a question"), (sum(costs), EXERCISE, "all"), (first, FIRST, "the first"))
            over = ", ".join(what for cost, limit, what in limits if cost > limit)
            numbers = (f"{max(costs):.1f}", f"{sum(costs):.0f}", f"{first:.0f}")
            table.add_row(lesson[:2], exercise.symbol, str(len(costs)), *numbers, over)
    return table


def _costs(exercise: Exercise, probe: Probe) -> list[float]:
    """Milliseconds of processor time: of the first check, and of each question."""
    right = exercise.references[0]
    start = time.process_time()
    judge = Judge(exercise, probe, SEED)
    judge.verdict(judge.observe(right))
    first = 1000 * (time.process_time() - start)
    return [first, *(_least(partial(judge.observe_one, right, case)) for case in judge.cases)]


def _in_a_fork(work: Callable[[], list[float]]) -> list[float]:
    """What comes of it in a process that has checked nothing before: the first check may import something."""
    out, into = os.pipe()
    gc.freeze()  # or the fork looks for garbage in all that this process has
    if not os.fork():
        try:
            with open(into, "w") as pipe:
                json.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(into)
    with open(out) as pipe:
        answer: list[float] = json.load(pipe)
    os.wait()
    return answer


def _least(work: Callable[[], object], repeats: int = 3) -> float:
    """Milliseconds of processor time: the least of some runs, since others use the machine too."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - start))
    return min(taken)


def honest(lesson: str, count: int) -> list[Learner]:
    """Learners whose answers are right, some in other words than the course's, some half-way through."""
    exercises = load_lesson(lesson).exercises
    return [Learner(f"learner{n:03}", lesson, begins=99 if n % 4 else 1 + n % len(exercises)) for n in range(count)]


def hostile(lesson: str) -> list[str]:
    """Cells that a grader must survive; the last exercise's answer is one of them."""
    return [
        "while True: pass",
        "import os\nos._exit(1)",
        "x = [0] * 10**10",
        "while True: print('again' * 1000)",
        "def f(): return f()\nimport sys; sys.setrecursionlimit(10**8); f()",
    ]


def course_with(repository: Repository, folder: Path, lesson: str, learners: Sequence[Learner]) -> Course:
    """A course in which these learners have handed in."""
    course, _ = make_course(repository, folder, (lesson,))
    course.ensure_assignment(lesson)
    released = (course.root / "notebooks" / lesson / f"{lesson}.ipynb").read_text("utf-8")
    for learner in learners:
        place = course.submission(learner.name, lesson)
        place.mkdir(parents=True)
        (place / f"{lesson}.ipynb").write_text(learner.hand_in(released), "utf-8")
    return course


def copied(course: Course) -> Path:
    """A copy of the course's folder."""
    copy = course.root.with_name(f"copy{len(list(course.root.parent.iterdir()))}")
    shutil.copytree(course.root, copy)
    return copy


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds that a command takes in a folder: on the clock, and of processor time."""
    kernel.adopt_orphans()  # a warm process that another one forked is nobody's child: its time counts too
    start, spent = time.perf_counter(), _of_children()
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    taken, patience = time.perf_counter() - start, time.monotonic() + 2
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < patience:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
    return taken, _of_children() - spent


def scores(root: Path) -> dict[str, float]:
    """Each learner's score in a gradebook."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {s.student_id: s.score for a in gradebook.assignments for s in gradebook.assignment_submissions(a.name)}


@dataclass(frozen=True)
class Race:
    """A lesson's class, graded by nbgrader and by us with equal marks. Seconds on the clock, unless it says so."""

    lesson: str
    theirs: float
    """nbgrader, for each submission; what it takes to start is left out."""
    their_start: float
    their_cpu: float
    """Processor seconds for each."""
    ours: Sequence[float]
    """The whole class, its start included: one job, and two."""
    warm: Sequence[float]
    """From one submission to the next, likewise."""
    our_cpu: float
    """Processor seconds for each, its share in the start included; one job."""
    count: int

    @property
    def from_start(self) -> float:
        """How many times as fast as nbgrader the class is graded with one job."""
        return (self.their_start + self.count * self.theirs) / self.ours[0]

    @property
    def once_warm(self) -> float:
        """How many times as fast each submission is graded with one job."""
        return self.theirs / self.warm[0]

    @property
    def two_jobs(self) -> float:
        """How many times as fast two jobs are as one, once warm."""
        return self.warm[0] / self.warm[1]


def race(repository: Repository, folder: Path, lesson: str, count: int, few: int, bin_folder: Path) -> Race:
    """Grades a class with both. nbgrader grades a few: each costs it a new kernel, so none is cheaper than another.

    Raises:
        SystemExit: when the marks differ.
    """
    course = course_with(repository, folder / lesson, lesson, honest(lesson, count))
    some = copied(course)
    for learner in sorted(some.glob("submitted/*"))[few:]:
        shutil.rmtree(learner)
    plain, their_cpu = timed([str(bin_folder / "nbgrader"), "autograde", lesson], some)
    marks = scores(some)
    written = sorted(path.stat().st_mtime for path in some.glob(f"autograded/*/{lesson}/*.ipynb"))
    theirs = (written[-1] - written[0]) / (len(written) - 1)
    ours, warm, cpu = [], [], []
    for jobs in (1, 2):
        graded = copied(course)
        command = [str(bin_folder / "cellcheck"), "autograde", lesson, "--jobs", str(jobs)]
        taken, spent = timed(command, graded)
        mine = scores(graded)
        if len(mine) != count or {name: mine[name] for name in marks} != marks:
            raise SystemExit(f"{lesson}: the marks differ, and the times mean nothing.")
        ours.append(taken)
        cpu.append(spent / count)
        warm.append(warm_seconds(graded, lesson))
    return Race(lesson, theirs, plain - few * theirs, their_cpu / few, ours, warm, cpu[0], count)


def race_table(races: Sequence[Race]) -> Table:
    """A row for each lesson, and one for all of them together."""
    title = f"{races[0].count} honest submissions of each lesson, graded with nbgrader's marks"
    table = Table(title=title, box=None)
    columns = (
        *("lesson", "nbgrader, s each", "ours, s in all", "times as fast", "once warm, s each", "times as fast"),
        *("two jobs, s each", "times one job", "nbgrader, CPU s each", "ours", "times as cheap"),
    )
    for column in columns:
        table.add_column(column, justify="right")
    for one in (*races, _all(races)):
        table.add_row(
            one.lesson[:2] if one in races else one.lesson,
            f"{one.theirs:.1f}",
            f"{one.ours[0]:.1f}",
            f"{one.from_start:.1f}",
            f"{one.warm[0]:.3f}",
            f"{one.once_warm:.1f}",
            f"{one.warm[1]:.3f}",
            f"{one.two_jobs:.2f}",
            f"{one.their_cpu:.1f}",
            f"{one.our_cpu:.2f}",
            f"{one.their_cpu / one.our_cpu:.1f}",
            end_section=one is races[-1],
        )
    return table


def _all(races: Sequence[Race]) -> Race:
    """One class that hands in a notebook of every lesson."""
    start, each = sum(one.their_start for one in races), sum(one.theirs for one in races)
    ours, warm = (_sums(one.ours for one in races), _sums(one.warm for one in races))
    cpu = (sum(one.their_cpu for one in races), sum(one.our_cpu for one in races))
    return Race("all", each, start, cpu[0], ours, warm, cpu[1], races[0].count)


def _sums(rows: Iterable[Sequence[float]]) -> list[float]:
    """Of each column."""
    return [sum(column) for column in zip(*rows, strict=True)]


def from_the_shell(repository: Repository, lesson: str, bin_folder: Path) -> Table:
    """What somebody waits for, beside what nobody can do without: importing PyTorch."""
    table = Table(title="from the shell to the answer, seconds", box=None)
    for column in ("command", "on the clock", "of processor time"):
        table.add_column(column, justify="left" if column == "command" else "right")
    cells = json.loads(repository.notebook(lesson).read_text("utf-8"))["cells"]
    setup = next("".join(cell["source"]) for cell in cells if "cellcheck.checks(" in "".join(cell["source"]))
    for name, command in (
        ("cellcheck --help", [str(bin_folder / "cellcheck"), "--help"]),
        ("python -c 'import torch'", [str(bin_folder / "python"), "-c", "import torch"]),
        (f"the set-up cell of {lesson}", [str(bin_folder / "python"), "-c", setup]),
        (f"cellcheck grade {lesson}.ipynb", [str(bin_folder / "cellcheck"), "grade", str(repository.solution(lesson))]),
    ):
        run_once = partial(subprocess.run, command, check=True, capture_output=True, cwd=repository.root)
        taken, spent = seconds(run_once, 3), _of_children()
        run_once()
        table.add_row(name, f"{taken:.1f}", f"{_of_children() - spent:.1f}")
    return table


def _of_children() -> float:
    """Processor seconds of the processes that were started here and have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


def warm_seconds(root: Path, lesson: str) -> float:
    """Seconds from one submission to the next, by when the feedback pages were written; the first is left out."""
    written = sorted(path.stat().st_mtime for path in root.glob(f"feedback/*/{lesson}.html"))
    written = written or sorted(path.stat().st_mtime for path in root.glob(f"feedback/*/{lesson}/*.html"))
    return (written[-1] - written[0]) / (len(written) - 1)


def large_class(repository: Repository, folder: Path, lesson: str, count: int, bin_folder: Path) -> Table:
    """A class of `count`, one in twenty of them hostile or broken: time, memory, and whether the end is slower."""
    learners = honest(lesson, count)
    cells = hostile(lesson)
    for place in range(0, count, 20):
        cell = cells[place // 20 % len(cells)]

        def broken(notebook: NotebookNode, cell: str = cell) -> str:
            notebook.cells.append(nbformat.v4.new_code_cell(cell))
            return json.dumps(notebook)

        learners[place] = replace(learners[place], accident=broken)
    course = course_with(repository, folder, lesson, learners)
    copy = copied(course)
    start = time.perf_counter()
    with (copy.parent / "said.txt").open("w") as log:
        command = [str(bin_folder / "cellcheck"), "autograde", lesson, "--jobs", "2"]
        own, warm = memory_while(subprocess.Popen(command, cwd=copy, stdout=log, stderr=log))
    seconds_taken = time.perf_counter() - start
    pages = sorted(path.stat().st_mtime for path in copy.rglob("feedback/*/**/*.html"))
    third, part = len(pages) // 3, len(own) // 3
    marks = scores(copy)
    table = Table(
        title=f"{count} submissions of {lesson}, one in twenty hostile, --jobs 2", box=None, show_header=False
    )
    table.add_row("in all", f"{seconds_taken:.0f} s, {seconds_taken / count:.2f} s each")
    table.add_row("graded", f"{len(marks)} of {count}")
    table.add_row("first third, last third", f"{pages[third] - pages[0]:.1f} s, {pages[-1] - pages[-third - 1]:.1f} s")
    table.add_row("the grader's memory at most", f"{max(own):.0f} MB; in the first third {max(own[:part]):.0f} MB")
    table.add_row("a warm process's memory at most", f"{max(warm):.0f} MB")
    if len(marks) < count:
        table.add_row("not graded", ", ".join(sorted({learner.name for learner in learners} - set(marks))))
        table.add_row("what was said", (copy.parent / "said.txt").read_text())
    return table


def memory_while(process: subprocess.Popen[bytes]) -> tuple[list[float], list[float]]:
    """Resident megabytes, ten times a second until it ends: of the process, and of the largest that it started.

    A learner's process is started by one of these, and is not counted.
    """
    own, warm = [0.0], [0.0]
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):  # gone between two lines
            own.append(watched.memory_info().rss / 1e6)
            warm += [child.memory_info().rss / 1e6 for child in watched.children()]
        time.sleep(0.1)
    return own, warm


def cost_of_one(repository: Repository, lesson: str, repeats: int = 10) -> Table:
    """Where the processor's time for one right submission goes, once all is warm; gradebook and pages not counted."""
    data = repository.solution(lesson).read_bytes()
    exercises, probes = load_lesson(lesson).exercises, load_probes(lesson)
    judges = [Judge(exercise, probes[exercise.symbol], SEED) for exercise in exercises]
    questions = sum(len(judge.cases) for judge in judges)
    cells = [step.source for step in read_submission(data).steps if isinstance(step, Cell)]

    def answer_here() -> None:
        for judge in judges:
            judge.observe(judge.exercise.references[0])

    def run_cells() -> None:
        with Session(setting_of(lesson), Limits()) as session:
            for cell in cells:
                session.run(cell)

    whole = processor_milliseconds(lambda: grade(data, SEED), repeats)
    bare = processor_milliseconds(run_cells, repeats)
    here = processor_milliseconds(answer_here, repeats)
    table = Table(
        title=f"one right submission of {lesson}: milliseconds of processor time", box=None, show_header=False
    )
    table.add_row("a process forked, walled in, and ended", f"{whole['fork']:.0f}")
    table.add_row("in it: the learner's cells", f"{bare['child']:.0f}")
    answering = f"{whole['child'] - bare['child']:.0f}"
    table.add_row(f"in it: answering {questions} questions, gradients included", answering)
    table.add_row("the grader: reading, asking, comparing", f"{whole['engine']:.0f}")
    bound = "no grader can be cheaper: the course's own answers, in a process that has no walls and sends nothing"
    table.add_row(bound, f"{here['engine']:.0f}")
    return table


def processor_milliseconds(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """Per run of `work`, after one that warms up: of this process, of the warm ones, and of what those forked."""

    def now() -> tuple[float, float, float]:
        warm = [child.cpu_times() for child in psutil.Process().children()]
        return (
            time.process_time(),
            sum(times.user + times.system for times in warm),
            sum(times.children_user + times.children_system for times in warm),
        )

    work()
    start = now()
    for _ in range(repeats):
        work()
    own, fork, child = (1000 * (after - before) / repeats for before, after in zip(start, now(), strict=True))
    return {"engine": own, "fork": fork, "child": child}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TABLES, action="append", help="a part of it; several may be named")
    parser.add_argument("--lesson", action="append", help="next to nbgrader, and questions: this lesson instead of all")
    parser.add_argument("--count", type=int, default=20, help="submissions of each lesson")
    parser.add_argument("--few", type=int, default=5, help="how many of them nbgrader grades; two at least")
    parser.add_argument("--large", type=int, default=300, help="submissions of the large class")
    options = parser.parse_args()
    wanted = options.only or TABLES
    lessons = [find_lesson(number)[1] for number in options.lesson or ()] or lesson_names()
    console = Console(width=140)
    repository = Repository.find(Path(__file__).parent)
    bin_folder = Path(sys.executable).parent
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if "nbgrader" in wanted:
            with progress(Console(stderr=True), "next to nbgrader", len(lessons)) as tell:
                races = []
                for lesson in lessons:
                    races.append(race(repository, folder, lesson, options.count, options.few, bin_folder))
                    tell(lesson)
            console.print(race_table(races), "")
        if "shell" in wanted:
            console.print(from_the_shell(repository, GRADED, bin_folder), "")
        if "one" in wanted:
            console.print(cost_of_one(repository, GRADED), "")
        if "large" in wanted:
            console.print(large_class(repository, folder / "many", GRADED, options.large, bin_folder), "")
        if "questions" in wanted:
            console.print(questions_table(lessons), "")
        if "checks" in wanted:
            console.print(checks_table(), "")
            build = seconds(lambda: out_of_step(repository, BUILT), 3)
            console.print(f"building a learner's notebook and comparing it: {build:.1f} s", "")
        if "cluster" in wanted:
            console.print("on a cluster of this machine's, with two workers:")
            classes = [(lesson, max(2, count * options.large // 300)) for lesson, count in ON_A_CLUSTER]
            cluster.measure(repository, classes, 2, folder, folder, console)


if __name__ == "__main__":
    main()
