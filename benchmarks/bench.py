"""`make bench`: what a check, a build and a graded notebook cost, each beside what it stands against.

Machines differ and are busy: look at the ratios, which come from one run.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader.building.build import out_of_step
from grader.checking.notebook import Checker
from grader.demo.lesson_01 import HONEST, LESSON
from grader.demo.run import exchange_step, hand_in, make_course
from grader.gradebook.course import Course
from grader.repository import Repository


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
    """A row per exercise: a right answer, and the slowest of its wrong ones."""
    table = Table(title="one check, milliseconds", box=None)
    for column in ("exercise", "right answer", "slowest wrong answer"):
        table.add_column(column, justify="left" if column == "exercise" else "right")
    check = Checker(LESSON)
    for exercise in check.lesson.exercises:

        def of(answer: object, name: str = exercise.symbol) -> Callable[[], object]:
            return lambda: check.verdict(name, answer)

        right = seconds(of(next(iter(exercise.variants.values()))))
        wrong = max(seconds(of(mistake.implementation), 2) for mistake in exercise.mistakes)
        table.add_row(exercise.symbol, f"{1000 * right:.0f}", f"{1000 * wrong:.0f}")
    return table


def grading_seconds(command: list[str], course: Course) -> float:
    """Time of a grading command on a copy of the course, per submission."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "course")
        shutil.copytree(course.root, copy)
        start = time.perf_counter()
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
        return (time.perf_counter() - start) / len(HONEST)


def main() -> None:
    """Prints the tables."""
    console = Console()
    repository = Repository.find(Path(__file__).parent)
    console.print(checks_table())
    build = seconds(lambda: out_of_step(repository, LESSON), 3)
    console.print(f"\nbuilding a learner's notebook and comparing it: {build:.1f} s\n")

    bin_folder = Path(sys.executable).parent
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        course, exchange = make_course(repository, Path(folder))
        course.ensure_assignment(LESSON)
        exchange_step(course, "ReleaseAssignment", LESSON)
        for learner in HONEST:
            hand_in(course, exchange, learner)
        exchange_step(course, "Collect", LESSON)
        grader = str(bin_folder / "grader")
        table = Table(title=f"one graded submission of {LESSON}, mean of {len(HONEST)}", box=None)
        for column in ("command", "seconds", "times as fast"):
            table.add_column(column, justify="left" if column == "command" else "right")
        plain = grading_seconds([str(bin_folder / "nbgrader"), "autograde", LESSON], course)
        for name, command in (
            ("grader autograde", [grader, "autograde", LESSON]),
            ("grader autograde --jobs 2", [grader, "autograde", LESSON, "--jobs", "2"]),
        ):
            ours = grading_seconds(command, course)
            table.add_row(name, f"{ours:.2f}", f"{plain / ours:.1f}")
        table.add_row("nbgrader autograde", f"{plain:.2f}", "1.0")
        console.print(table)


if __name__ == "__main__":
    main()
