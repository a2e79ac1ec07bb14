"""`make bench`: what a check, a build and a graded notebook cost, each beside what it stands against.

Machines differ and are busy: look at the ratios, which come from one run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from benchmarks import cluster
from grader.building.build import out_of_step
from grader.checking.judge import Judge
from grader.checking.notebook import Checker
from grader.demo.learners import Learner
from grader.demo.run import make_course
from grader.gradebook.course import Course
from grader.repository import Repository
from grader.running.cells import Cell
from grader.running.grade import grade
from grader.running.intake import read_submission
from grader.running.limits import Limits
from grader.running.session import Session
from grader.running.setting import setting_of
from grader.syllabus import lesson_names, load_lesson, load_probes

BUILT = "01_pytorch_basics"
GRADED = "03_classification_transformer"
ON_A_CLUSTER = (("02_tokenizer", 240), (GRADED, 60))
SEED = 1
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


def run(command: list[str], course: Course) -> tuple[float, Path]:
    """The seconds of a grading command on a copy of the course, and the copy."""
    copy = copied(course)
    start = time.perf_counter()
    subprocess.run(command, cwd=copy, check=False, capture_output=True)
    return time.perf_counter() - start, copy


def scores(root: Path) -> dict[str, float]:
    """Each learner's score in a gradebook."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        return {s.student_id: s.score for a in gradebook.assignments for s in gradebook.assignment_submissions(a.name)}


def against_nbgrader(repository: Repository, folder: Path, lesson: str, count: int, bin_folder: Path) -> Table:
    """The same submissions, the same marks: nbgrader's time beside ours, with and without what is paid once."""
    course = course_with(repository, folder, lesson, honest(lesson, count))
    table = Table(title=f"grading {count} honest submissions of {lesson}", box=None)
    for column in ("command", "in all, s", "each, s", "times as fast", "each once warm, s", "times as fast once warm"):
        table.add_column(column, justify="left" if column == "command" else "right")
    plain, graded = run([str(bin_folder / "nbgrader"), "autograde", lesson], course)
    marks = scores(graded)
    table.add_row("nbgrader autograde", f"{plain:.0f}", f"{plain / count:.2f}", "1", "", "")
    for jobs in (1, 2):
        command = [str(bin_folder / "grader"), "autograde", lesson, "--jobs", str(jobs)]
        ours, graded = run(command, course)
        if scores(graded) != marks:
            raise SystemExit("The marks differ: the times mean nothing.")
        warm = warm_seconds(graded, lesson)
        row = (
            f"{ours:.1f}",
            f"{ours / count:.2f}",
            f"{plain / ours:.1f}",
            f"{warm:.2f}",
            f"{plain / count / warm:.1f}",
        )
        table.add_row(f"grader autograde --jobs {jobs}", *row)
    return table


def from_the_shell(repository: Repository, lesson: str, bin_folder: Path) -> Table:
    """One notebook, from the command to the answer, beside what nobody can do without: importing PyTorch."""
    table = Table(title="one notebook from the shell, seconds", box=None, show_header=False)
    for name, command in (
        ("python -c 'import torch'", [str(bin_folder / "python"), "-c", "import torch"]),
        (f"grader grade {lesson}.ipynb", [str(bin_folder / "grader"), "grade", str(repository.solution(lesson))]),
    ):
        taken = seconds(partial(subprocess.run, command, check=True, capture_output=True), 3)
        table.add_row(name, f"{taken:.1f}")
    return table


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
    with (copy.parent / "said.txt").open("w") as said:
        command = [str(bin_folder / "grader"), "autograde", lesson, "--jobs", "2"]
        own, warm = memory_while(subprocess.Popen(command, cwd=copy, stdout=said, stderr=said))
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
    table.add_row("the grader: reading, asking, comparing", f"{whole['grader']:.0f}")
    bound = "no grader can be cheaper: the course's own answers, in a process that has no walls and sends nothing"
    table.add_row(bound, f"{here['grader']:.0f}")
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
    return {"grader": own, "fork": fork, "child": child}


def main() -> None:
    """Prints the tables."""
    console = Console(width=140)
    repository = Repository.find(Path(__file__).parent)
    console.print(checks_table())
    build = seconds(lambda: out_of_step(repository, BUILT), 3)
    console.print(f"\nbuilding a learner's notebook and comparing it: {build:.1f} s\n")
    bin_folder = Path(sys.executable).parent
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    console.print(from_the_shell(repository, GRADED, bin_folder))
    console.print()
    with tempfile.TemporaryDirectory() as folder:
        console.print(against_nbgrader(repository, Path(folder, "few"), GRADED, 20, bin_folder))
        console.print()
        console.print(cost_of_one(repository, GRADED))
        console.print()
        console.print(large_class(repository, Path(folder, "many"), GRADED, 300, bin_folder))
        console.print("\non a cluster of this machine's, with two workers:")
        cluster.measure(repository, ON_A_CLUSTER, 2, Path(folder), Path(folder), console)


if __name__ == "__main__":
    main()
