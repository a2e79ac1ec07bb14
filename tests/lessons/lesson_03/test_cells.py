"""Whatever the checks accept, every later cell of the lesson runs with it.

All cells run with right answers written in other ways: other attribute names, argument names, layouts, pairs as lists.
Training is cut short, since what is learnt doesn't matter here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext
import matplotlib as mpl
import pytest
import torch
from torch import nn

from course import fitting
from grader.checking.judge import PASSED, Judge
from grader.repository import Repository
from grader.syllabus import load_lesson, load_probes
from lessons.lesson_03 import experiments as lab

REPOSITORY = Repository.find(Path(__file__).parent)
NAME = "03_classification_transformer"
LESSON, PROBES = load_lesson(NAME), load_probes(NAME)

Answers = dict[str, Any]


def _pair_as_a_list(layer: type[nn.Module]) -> type[nn.Module]:
    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        return list(layer.forward(self, *inputs, **named))

    return type(layer.__name__, (layer,), {"forward": forward})


class _WithAPart(nn.Module):
    """A module whose only part is the right layer: attention inside attention."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.inner = LESSON["MultiHeadAttention"].references[0](*sizes)
        for name in ("query", "key", "value", "output"):
            setattr(self, name, getattr(self.inner, name))

    def forward(self, queries: Any, keys: Any, values: Any, mask: Any = None) -> Any:
        return self.inner(queries, keys, values, mask)


class _CallsForward(LESSON["EncoderBlock"].references[0]):  # type: ignore[misc]
    """Calls its parts' forward methods by name."""

    def forward(self, x: torch.Tensor, mask: Any = None) -> Any:
        y = self.norm1.forward(x)
        x = x + self.attention.forward(y, y, y, mask=mask)[0]
        return x + self.feed_forward.forward(self.norm2.forward(x))


class _Layers(nn.Module):
    """The classifier with `self.layers`, short names, and no argument called as in the docstring."""

    def __init__(self, ids: int, longest: int, width: int, heads: int, inner: int, depth: int, classes: int) -> None:
        super().__init__()
        right = {symbol: LESSON[symbol].references[0] for symbol in ("LearnedPositionalEmbedding", "LayerNorm")}
        self.emb = nn.Embedding(ids, width)
        self.pos = right["LearnedPositionalEmbedding"](longest, width)
        self.layers = nn.ModuleList([_CallsForward(width, heads, inner) for _ in range(depth)])
        self.norm = right["LayerNorm"](width)
        self.fc = nn.Linear(width, classes)

    def forward(self, ids: torch.Tensor) -> Any:
        x = self.pos(self.emb(ids))
        for layer in self.layers:
            x = layer(x, (ids != 0)[:, None, None, :])
        return self.fc(self.norm(x[:, -1]))


ANSWERS: dict[str, Answers] = {
    "self.layers, other argument names, pairs as lists": {
        "SelfAttention": _pair_as_a_list(LESSON["SelfAttention"].references[0]),
        "MultiHeadAttention": _pair_as_a_list(LESSON["MultiHeadAttention"].references[0]),
        "split_heads": lambda vectors, heads: LESSON["split_heads"].references[0](vectors, heads),
        "EncoderBlock": _CallsForward,
        "TransformerClassifier": _Layers,
    },
    "odd but honest": {each.symbol: next(iter(each.honest.values())) for each in LESSON.exercises if each.honest}
    | {"MultiHeadAttention": _WithAPart},
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*arguments: Any, steps: int = 1, look: Callable[[int], None] | None = None, **more: Any) -> list[float]:
        if look is not None:  # the lesson draws a curve of what was seen every 50 steps
            for step in range(0, steps + 1, 50):
                look(step)
        return fit_in_full(*arguments, steps=2, **more)

    def draw_sets(seed: int, **more: Any) -> lab.Sets:
        return drawn(seed, train=200, test=30, **more)

    fit_in_full, drawn = fitting.fit, lab.draw_sets
    monkeypatch.setattr(fitting, "fit", fit)
    monkeypatch.setattr(lab, "fit", fit)
    monkeypatch.setattr(lab, "draw_sets", draw_sets)
    monkeypatch.setattr("IPython.display.display", lambda *_: None)
    mpl.use("agg")


@pytest.mark.parametrize("name", ANSWERS)
def test_every_cell_runs_with_whatever_the_checks_accept(name: str, quick: None) -> None:
    text = jupytext.reads(REPOSITORY.text(NAME).read_text("utf-8"), fmt="py:percent")
    space: dict[str, Any] = {}
    for cell in text.cells:
        if cell.cell_type != "code":
            continue
        symbol = cell.metadata.get("exercise")
        if symbol is None:
            exec(compile(cell.source, f"<{name}>", "exec"), space)
            continue
        exercise = LESSON[symbol]
        space[symbol] = ANSWERS[name].get(symbol, exercise.references[0])
        if name.startswith("self.layers") or symbol in ("MultiHeadAttention",):
            judge = Judge(exercise, PROBES[symbol], 0)
            assert judge.verdict(judge.observe(space[symbol])).status == PASSED, symbol
    assert len(space["looks"]) == 8
    assert isinstance(space["board"], list)
