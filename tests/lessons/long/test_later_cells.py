"""Whatever a check accepts, every later cell runs with: right answers in place of the course's own, and then all cells.

Training is cut short: what is asked is whether the cells run, not what comes out. In one run each exercise is answered
in another way than the course does it; the next run takes the next way. `make test` has the first run of each lesson,
`make claims` all of them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import jupytext
import matplotlib as mpl
import pytest
import torch
from nbformat import NotebookNode

from course.progress import Progress
from grader.repository import Repository
from grader.syllabus import lesson_names, load_lesson

REPOSITORY = Repository.find()
STEPS = 2


def ways(lesson: str) -> dict[str, list[tuple[str, Any]]]:
    """For each exercise all right answers that we know, by name."""
    honest = importlib.import_module(f"tests.lessons.lesson_{lesson[:2]}.answers").HONEST
    return {
        exercise.symbol: [
            *exercise.variants.items(),
            *((f"honest {i}", answer) for i, answer in enumerate(honest[exercise.symbol])),
        ]
        for exercise in load_lesson(lesson).exercises
    }


def runs() -> list[Any]:
    found = []
    for lesson in lesson_names():
        count = max(len(known) for known in ways(lesson).values())
        found += [pytest.param(lesson, i, id=f"{lesson[:2]}-{i}") for i in range(count)]
    return found


def cells(lesson: str) -> list[NotebookNode]:
    """The code cells of a lesson's text."""
    text = REPOSITORY.text(lesson).read_text("utf-8")
    return [cell for cell in jupytext.reads(text, fmt="py:percent").cells if cell.cell_type == "code"]


@contextlib.contextmanager
def cut_short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever shows its progress ends after a few steps; nothing is printed, no figure stays open."""
    whole = Progress.__iter__
    monkeypatch.setattr(Progress, "__iter__", lambda self: itertools.islice(whole(self), STEPS))
    threads = torch.get_num_threads()
    with mpl.rc_context(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        mpl.use("Agg")
        try:
            yield
        finally:
            import matplotlib.pyplot as plt

            plt.close("all")
            torch.set_num_threads(threads)


@pytest.mark.parametrize(("lesson", "number"), runs())
def test_every_later_cell_runs(lesson: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known = ways(lesson)
    space: dict[str, Any] = {"__name__": "__main__"}
    taken = {}
    with cut_short(monkeypatch):
        for place, cell in enumerate(cells(lesson)):
            symbol = cell.metadata.get("exercise")
            if symbol:
                name, space[symbol] = known[symbol][number % len(known[symbol])]
                taken[symbol] = name
                continue
            try:
                exec(compile(cell.source, f"<{lesson}, cell {place}>", "exec"), space)
            except Exception as error:
                error.add_note(f"{lesson}, cell {place}, with {taken}:\n{cell.source}")
                raise
