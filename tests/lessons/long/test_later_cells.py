"""Whatever a check accepts, every later cell runs with: right answers in place of the course's own, and then all cells.

What the library trains is cut short, and what is tried on several seeds is tried on one: the question is whether the
cells run, not what comes out. In each run every exercise is answered differently from the course; the next run takes
the next answer. `make claims` runs them all.
"""

import contextlib
import importlib
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jupytext
import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
import torch
from nbformat import NotebookNode
from torch import nn

from cellcheck.checking.judge import PASSED, Judge
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from transformer_course.progress import Progress

REPOSITORY = Repository.find()
STEPS = 2
RECORDED = 50
LESSONS = "transformer_course.lessons."
TRAINING = tuple(f"{LESSONS}lesson_{number}." for number in (10, 11, 12, 13))
"""Where long training loops are, besides the library. Elsewhere they are short, and cells look up each step."""


def pair_as_a_list(layer: type[nn.Module]) -> type[nn.Module]:
    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        return list(layer.forward(self, *inputs, **named))

    return type(layer.__name__, (layer,), {"forward": forward})


def with_a_part(layer: type[nn.Module]) -> type[nn.Module]:
    """A module whose only part is the right layer: attention inside attention."""

    def init(self: Any, *sizes: int) -> None:
        nn.Module.__init__(self)
        self.inner = layer(*sizes)
        for name in ("query", "key", "value", "output"):
            setattr(self, name, getattr(self.inner, name))

    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        return self.inner(*inputs, **named)

    return type(layer.__name__, (nn.Module,), {"__init__": init, "forward": forward})


WRAPPED = {"SelfAttention": [pair_as_a_list], "MultiHeadAttention": [pair_as_a_list, with_a_part]}
"""Right answers in another form, beside the catalogue's: what a lesson draws looks for layers by their kind."""


def ways(lesson: str) -> dict[str, list[tuple[str, Any]]]:
    """For each exercise all right answers that we know, by name."""
    return {
        exercise.symbol: [
            *((wrap.__name__, wrap(exercise.references[0])) for wrap in WRAPPED.get(exercise.symbol, ())),
            *exercise.variants.items(),
            *exercise.honest.items(),
        ]
        for exercise in load_lesson(lesson).exercises
    }


def runs() -> list[Any]:
    return [
        pytest.param(lesson, i, id=f"{lesson[:2]}-{i}")
        for lesson in lesson_names()
        for i in range(max(len(known) for known in ways(lesson).values()))
    ]


def cells(lesson: str) -> list[NotebookNode]:
    """The cells of a lesson's text that hold code or stand for an exercise."""
    text = REPOSITORY.text(lesson).read_text("utf-8")
    return [
        cell
        for cell in jupytext.reads(text, fmt="py:percent").cells
        if cell.cell_type == "code" or "exercise" in cell.metadata
    ]


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
        ours = name.startswith(TRAINING) or (name.startswith("transformer_course.") and not name.startswith(LESSONS))
        if ours and name != "transformer_course.progress" and hasattr(module, "Progress"):
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


@pytest.mark.parametrize(("symbol", "wrap"), [(symbol, wrap) for symbol, wraps in WRAPPED.items() for wrap in wraps])
def test_the_checks_accept_an_answer_in_another_form(symbol: str, wrap: Callable[[Any], Any]) -> None:
    exercise = load_lesson("03")[symbol]
    judge = Judge(exercise, load_probes("03")[symbol], 0)
    assert judge.verdict(judge.observe(wrap(exercise.references[0]))).status == PASSED


@pytest.mark.parametrize(("lesson", "number"), runs())
def test_every_later_cell_runs(lesson: str, number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = ways(lesson)
    monkeypatch.chdir(tmp_path)  # a cell may write into the folder that its notebook stands in
    importlib.import_module(f"transformer_course.lessons.lesson_{lesson[:2]}.experiments")
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
