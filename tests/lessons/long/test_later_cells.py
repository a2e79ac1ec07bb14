"""Whatever a check accepts, every later cell runs with: right answers in place of the course's own, and then all cells.

What the library trains is cut short, and what is tried on several seeds is tried on one: the question is whether the
cells run, not what comes out. In each run every exercise is answered differently from the course; the next run takes
the next answer. `make claims` runs them all.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
import torch
from nbformat import NotebookNode

from course.progress import Progress
from grader.repository import Repository
from grader.syllabus import lesson_names, load_lesson

REPOSITORY = Repository.find()
STEPS = 2
RECORDED = 50
TRAINING = ("course.", "lessons.lesson_10.", "lessons.lesson_11.", "lessons.lesson_12.")
"""Where long training loops stand. In other lessons they are short, and cells look up each of their steps."""


def ways(lesson: str) -> dict[str, list[tuple[str, Any]]]:
    """For each exercise all right answers that we know, by name."""
    return {
        exercise.symbol: [*exercise.variants.items(), *exercise.honest.items()]
        for exercise in load_lesson(lesson).exercises
    }


def runs() -> list[Any]:
    return [
        pytest.param(lesson, i, id=f"{lesson[:2]}-{i}")
        for lesson in lesson_names()
        for i in range(max(len(known) for known in ways(lesson).values()))
    ]


def cells(lesson: str) -> list[NotebookNode]:
    """The code cells of a lesson's text."""
    text = REPOSITORY.text(lesson).read_text("utf-8")
    return [cell for cell in jupytext.reads(text, fmt="py:percent").cells if cell.cell_type == "code"]


class Short(Progress):
    """A bar for the first steps, the last, and those whose record is kept: later cells look up what was seen there.

    What isn't counted, such as a few depths to try, is not cut short.
    """

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.iterable, range):
            yield from super().__iter__()
            return
        steps = list(super().__iter__())
        for place, step in enumerate(steps):  # some count theirs from 0, and some from 1
            if place < STEPS or (place + 1) % RECORDED < 2 or place == len(steps) - 1:
                yield step


@contextlib.contextmanager
def cut_short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is printed, no figure stays open, and what the library trains ends after a few steps."""
    for name, module in list(sys.modules.items()):
        if name.startswith(TRAINING) and name != "course.progress" and hasattr(module, "Progress"):
            monkeypatch.setattr(module, "Progress", Short)
    monkeypatch.setattr(plt, "show", lambda *_, **__: None)
    threads = torch.get_num_threads()
    with mpl.rc_context(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            plt.close("all")
            torch.set_num_threads(threads)


@pytest.mark.parametrize(("lesson", "number"), runs())
def test_every_later_cell_runs(lesson: str, number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = ways(lesson)
    monkeypatch.chdir(tmp_path)  # a cell may write into the folder that its notebook stands in
    importlib.import_module(f"lessons.lesson_{lesson[:2]}.experiments")
    space: dict[str, Any] = {"__name__": "__main__"}
    taken = {}
    with cut_short(monkeypatch):
        for place, cell in enumerate(cells(lesson)):
            symbol = cell.metadata.get("exercise")
            if symbol:
                name, space[symbol] = known[symbol][number % len(known[symbol])]
                taken[symbol] = name
                continue
            source = re.sub(r"seeds=range\(\d+\)", "seeds=range(1)", cell.source)
            try:
                exec(compile(source, f"<{lesson}, cell {place}>", "exec"), space)
            except Exception as error:
                error.add_note(f"{lesson}, cell {place}, with {taken}:\n{source}")
                raise
