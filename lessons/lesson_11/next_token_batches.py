"""`next_token_batches`: how it is tried. What is random is looked at through the places in the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Observation, Trial, tagged
from lessons.lesson_11.randomness import source_of_randomness

MANY = 3000


def special(name: str, *keys: str, meaning: str, weight: float = 1.0) -> Aspect:
    return Aspect(name, keys, CONTENT, weight, tags=tagged(name), meaning=meaning)


ONE_TOKEN = special("windows of one token", "output", meaning="With a length of 1, the result is right too.")
ONE_WINDOW = special(
    "a text with one window",
    "output",
    "starts",
    meaning="A text of length + 1 tokens has one window, and it can be drawn more than once.",
)
ONE_ROW = special("a batch of one", "output", "shapes", meaning="A batch of a single row gives the right result too.")
CHANCE = special(
    "randomness from the generator alone",
    "chance",
    meaning="The same seed gives the same batch, another seed another one, and no other randomness is used.",
    weight=2.0,
)


def cases(generator: np.random.Generator) -> list[Case]:
    def text(label: str, *about: Aspect, n: int, length: int, rows: int = MANY, **others: Any) -> Case:
        ids = torch.from_numpy(generator.choice(np.arange(100, 400), size=n, replace=False))
        seed = int(generator.integers(1, 10**6))
        return Case.of(label, *about, ids=ids, length=length, rows=rows, seed=seed, **others)

    length, more = dims(generator, 2, 3, 6)
    return [
        text("with a short text and many rows", n=length + more + 1, length=length),
        text("with windows of another length", n=2 * more + 3, length=more),
        text("with two windows to choose from", n=length + 2, length=length),
        text("with windows of one token", ONE_TOKEN, n=more + 3, length=1),
        text("with just enough tokens for one window", ONE_WINDOW, n=length + 1, length=length, rows=4),
        text("with a single row", ONE_ROW, n=length + 4, length=length, rows=1),
        text("with the same generator, and with others", CHANCE, n=60, length=length, rows=5, chance=True),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """How the windows are drawn is looked at where there are many; with a single row, any start will do."""
    left_out = {"evenly", "random"} if not case.tags & USUAL else set()
    left_out |= {"starts"} if case.tags & (ONE_ROW.tags | ONE_TOKEN.tags) else set()
    return {name: seen for name, seen in observation.items() if name not in left_out}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Where in the text the tokens of a batch stand: no token occurs twice, so each place can be told."""
    ids, length, rows = inputs["ids"], inputs["length"], inputs["rows"]

    def drawn(generator: torch.Generator) -> Any:
        return symbol(ids, length, rows, generator)

    if inputs.get("chance"):
        source = source_of_randomness(lambda generator: [part.tolist() for part in drawn(generator)], inputs["seed"])
        return {"chance": source}
    before = ids.clone()
    pair = drawn(torch.Generator().manual_seed(inputs["seed"]))
    seen: dict[str, Any] = {"arguments": [before, ids]}
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(p, torch.Tensor) for p in pair):
        return {**seen, "output": pair}
    shapes = [list(part.shape) for part in pair]
    whole = not any(part.is_floating_point() or part.dtype == torch.bool for part in pair)
    seen |= {"shapes": shapes, "kind": "whole numbers" if whole else "not whole numbers"}
    if any(len(shape) != 2 for shape in shapes) or shapes[0] != shapes[1]:
        return {**seen, "output": "no two tables of one shape"}
    places = torch.full((int(ids.max()) + 1,), -1)
    places[ids] = torch.arange(len(ids))
    if any(part.min() < 0 or part.max() > ids.max() for part in pair):
        return {**seen, "output": "ids that aren't in the text"}
    read, told = (places[part.long()] for part in pair)
    if read.min() < 0 or told.min() < 0:
        return {**seen, "output": "ids that aren't in the text"}
    starts = torch.bincount(read[:, 0], minlength=len(ids) - length)
    seen["output"] = _different(told - read)
    seen["side_by_side"] = _different(read.diff(dim=1)) if length > 1 else [1]
    seen["starts"] = [place for place, count in enumerate(starts.tolist()) if count]
    even = bool(starts.max() < 1.6 * starts.min())
    seen["evenly"] = "equally often" if even else "some far more often than others"
    again = symbol(ids, length, rows, torch.Generator().manual_seed(inputs["seed"] + 1))
    seen["random"] = _in_words(read[:, 0], torch.equal(again[0], pair[0]))
    return seen


def _in_words(starts: torch.Tensor, same: bool) -> str:
    if len(starts) > 1 and bool((starts == starts[0]).all()):
        return "all rows of a batch alike"
    if len(starts) > 1 and bool((starts.diff() == 1).float().mean() > 0.5):
        return "in the order of the text"
    return "the same batch with every generator" if same else "another batch with another generator"


def _different(table: torch.Tensor) -> list[int]:
    """The different numbers of a table: of many, the two smallest and the two largest."""
    numbers = sorted(set(table.flatten().tolist()))
    return numbers if len(numbers) <= 4 else [*numbers[:2], *numbers[-2:]]


TRIAL = Trial(
    module="course.language_model.batches",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "output": "how many places behind its input each target stands",
        "side_by_side": "how many places behind its left neighbour each input stands",
        "starts": "where the windows begin",
        "evenly": "how often windows are drawn",
        "random": "two batches from different generators",
    },
    shown=lambda case: {"ids": case.inputs["ids"], "length": case.inputs["length"], "batch_size": case.inputs["rows"]},
    aspects=(
        main("each target is the next token", 6.0, meaning="Target j of a row stands one place behind input j."),
        also("shape", "shapes", "kind", meaning="Both results are whole numbers of shape (batch_size, length)."),
        also("windows", "side_by_side", weight=2.0, meaning="The inputs of a row stand side by side in the text."),
        Aspect(
            "every window may be drawn",
            ("starts",),
            KNOWN,
            weight=5.0,
            tags=USUAL,
            meaning="Every start that leaves room for the last target occurs, the first and the last one included.",
        ),
        Aspect("equally often", ("evenly",), KNOWN, tags=USUAL, meaning="All windows are about equally likely."),
        Aspect(
            "random windows",
            ("random",),
            KNOWN,
            weight=8.0,
            tags=USUAL,
            meaning="The rows of a batch differ, and so do batches from different generators.",
        ),
        ONE_TOKEN,
        ONE_WINDOW,
        ONE_ROW,
        CHANCE,
        untouched(),
    ),
)
