"""`next_token_batches`: how it is tried. What is random is looked at through the places in the text."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import CONTENT, KNOWN, USUAL, also, central, main, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial, tagged
from transformer_course.lessons.lesson_11.randomness import source_of_randomness

MANY = 3000
BATCHES = 80
"""So many that in batches of two rows each row has begun at each of four windows, and both at the same one."""


def special(name: str, *keys: str, meaning: str, weight: float = 1.0) -> Aspect:
    return Aspect(name, keys, CONTENT, weight, tags=tagged(name), meaning=meaning)


ONE_TOKEN = special("windows of one token", "output", meaning="With a length of 1, the result is right too.")
ONE_WINDOW = special(
    "a text with one window",
    "output",
    "shapes",
    "starts",
    meaning="A text of length + 1 tokens has one window, and it can be drawn more than once.",
)
ONE_ROW = special("a batch of one", "output", "shapes", meaning="A batch of a single row gives the right result too.")
ROWS = special(
    "each row drawn by itself",
    "rows",
    meaning="In a small batch, too, each row may begin anywhere, and two rows at the same place.",
    weight=3.0,
)
CHANCE = special(
    "randomness from the generator alone",
    "chance",
    meaning="The same seed gives the same batch, another seed another one, and no other randomness is used.",
    weight=4.0,
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
        text("in many batches of two rows", ROWS, n=length + 4, length=length, rows=2, batches=True),
        text("with the same generator, and with others", CHANCE, n=60, length=length, rows=5, chance=True),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """How the windows are drawn is looked at where there are many; with a single row, any start will do."""
    left_out = {"evenly", "random"} if not case.tags & USUAL else set()
    left_out |= {"starts"} if case.tags & (ONE_ROW.tags | ONE_TOKEN.tags) else set()
    return {name: seen for name, seen in observation.items() if name not in left_out}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of the batches, or that a window runs beyond the end: an index says so, or a slice comes out short.

    With few rows that may not happen at once, so there are more batches.
    """
    looks_at = "chance" if inputs.get("chance") else "rows" if inputs.get("batches") else "output"
    beyond = {looks_at: "a window that runs beyond the end of the text"}
    generator, shapes = torch.Generator().manual_seed(inputs["seed"]), set()
    try:
        for _ in range(40 if looks_at == "output" and inputs["rows"] < MANY else 0):
            pair = symbol(inputs["ids"].clone(), inputs["length"], inputs["rows"], generator)
            shapes.add(tuple(pair[1].shape) if _is_pair(pair) else ())
        return beyond if len(shapes) > 1 else _seen(symbol, inputs)
    except (IndexError, RuntimeError) as error:
        if any(words in str(error) for words in ("out of bounds", "out of range", "stack expects each tensor")):
            return beyond
        raise


def _seen(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Where in the text the tokens of a batch stand: no token occurs twice, so each place can be told."""
    ids, length, rows = inputs["ids"], inputs["length"], inputs["rows"]

    def drawn(generator: torch.Generator) -> Any:
        return symbol(ids.clone(), length, rows, generator)

    if inputs.get("chance"):
        source = source_of_randomness(lambda generator: [part.tolist() for part in drawn(generator)], inputs["seed"])
        return {"chance": source}
    if inputs.get("batches"):
        generator = torch.Generator().manual_seed(inputs["seed"])
        return {"rows": _by_row([drawn(generator) for _ in range(BATCHES)], ids, len(ids) - length)}
    given = ids.clone()
    pair = symbol(given, length, rows, torch.Generator().manual_seed(inputs["seed"]))
    seen: dict[str, Any] = {"arguments": [ids, given]}
    if isinstance(pair, torch.Tensor):
        return {**seen, "output": "one tensor in place of two"}
    if not _is_pair(pair):
        return {**seen, "output": pair}
    shapes = [tuple(part.shape) for part in pair]
    whole = not any(part.is_floating_point() or part.dtype == torch.bool for part in pair)
    seen |= {"shapes": f"{shapes[0]} and {shapes[1]}", "kind": "whole numbers" if whole else "not whole numbers"}
    if any(len(shape) != 2 for shape in shapes) or shapes[0] != shapes[1]:
        return {**seen, "output": "two tensors that aren't both (batch_size, length)"}
    places = _places(ids)
    if any(part.min() < 0 or part.max() > ids.max() for part in pair):
        return {**seen, "output": "ids that aren't in the text"}
    read, told = (places[part.long()] for part in pair)
    if read.min() < 0 or told.min() < 0:
        return {**seen, "output": "ids that aren't in the text"}
    starts = torch.bincount(read[:, 0], minlength=len(ids) - length)
    seen["output"] = _in_tokens(told - read, length, len(ids))
    apart = _different(read.diff(dim=1)) if length > 1 else [1]
    seen["side_by_side"] = SIDE_BY_SIDE.get(tuple(apart), "no neighbours, or not in the text's order")
    seen["starts"] = _in_short([place for place, count in enumerate(starts.tolist()) if count])
    even = bool(starts.max() < 1.6 * starts.min())
    seen["evenly"] = "about equally often" if even else "some far more often than others"
    again = drawn(torch.Generator().manual_seed(inputs["seed"] + 1))
    as_many = len(read) == rows
    seen["random"] = (
        _in_words(read[:, 0], torch.equal(again[0], pair[0])) if as_many else "not as many rows as asked for"
    )
    return seen


SIDE_BY_SIDE: dict[tuple[int, ...], str] = {(1,): "neighbours in the text", (-1,): "neighbours, from right to left"}


def _places(ids: torch.Tensor) -> torch.Tensor:
    """Where in the text each token stands; -1 for one that doesn't."""
    places = torch.full((int(ids.max()) + 1,), -1)
    places[ids] = torch.arange(len(ids))
    return places


def _by_row(batches: list[Any], ids: torch.Tensor, windows: int) -> str:
    """How the rows of small batches begin, in words."""
    firsts = [batch[0][:, 0] for batch in batches if _is_pair(batch) and batch[0].dim() == 2 and len(batch[0]) == 2]
    if len(firsts) < len(batches) or any(first.min() < 0 or first.max() > ids.max() for first in firsts):
        return "no batches of two rows"
    starts = _places(ids)[torch.stack(firsts).long()]  # (batches, 2)
    counts = [len(column.unique()) for column in starts.T]
    if min(counts) == 1 < max(counts):
        return "a row that always begins at the same window"
    if min(counts) < windows:
        return "rows that begin at some windows only"
    if bool((starts[:, 0] <= starts[:, 1]).all()) or bool((starts[:, 0] >= starts[:, 1]).all()):
        return "rows in the order of the text"
    if not bool((starts[:, 0] == starts[:, 1]).any()):
        return "no window twice in a batch"
    return "any window in each row, and the same one twice now and then"


def _is_pair(batch: Any) -> bool:
    return isinstance(batch, tuple | list) and len(batch) == 2 and all(isinstance(p, torch.Tensor) for p in batch)


def _in_words(starts: torch.Tensor, same: bool) -> str:
    if len(starts) > 1 and bool((starts == starts[0]).all()):
        return "the rows of a batch are all alike"
    if len(starts) > 1 and bool((starts.diff() == 1).float().mean() > 0.5):
        return "the rows follow each other in the order of the text"
    return "the same with every generator" if same else "different rows, and others with another generator"


def _different(table: torch.Tensor) -> list[int]:
    """The different numbers of a table: of many, the two smallest and the two largest."""
    numbers = sorted(set(table.flatten().tolist()))
    return numbers if len(numbers) <= 4 else [*numbers[:2], *numbers[-2:]]


def _in_tokens(ahead: torch.Tensor, length: int, n: int) -> str:
    """Which tokens the targets are, by how far they lie ahead of their inputs."""
    numbers = _different(ahead)
    named = {1: "the next token", 0: "the input itself"}
    if length > 1 and bool(((ahead - length) % n == 0).all()):  # behind the end of the text its beginning may follow
        return f"tokens of the window after theirs, {length} positions ahead"
    if len(numbers) > 1:
        return f"tokens at different distances from their inputs: {', '.join(map(str, numbers))}"
    return named.get(numbers[0], f"the token {abs(numbers[0])} positions {'ahead' if numbers[0] > 0 else 'before'}")


def _in_short(places: list[int]) -> str:
    """Places without a gap as "0 to 5", others one by one."""
    if not places:
        return "nowhere"
    whole = places == list(range(places[0], places[-1] + 1))
    return f"all from {places[0]} to {places[-1]}" if whole else ", ".join(map(str, places))


TRIAL = Trial(
    module="transformer_course.language_model.batches",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "output": "each target",
        "shapes": "the shapes of inputs and targets",
        "side_by_side": "the inputs of a row",
        "starts": "where windows begin",
        "evenly": "the windows are drawn",
        "random": "your batches",
        "kind": "inputs and targets",
        "rows": "the rows of a small batch",
        "chance": "your batches",
    },
    shown=lambda case: {"ids": case.inputs["ids"], "length": case.inputs["length"], "batch_size": case.inputs["rows"]},
    aspects=(
        main(
            "each target is the next token",
            6.0,
            meaning="Target j of a row is the token that follows input j in the text.",
        ),
        also(
            "shape",
            "shapes",
            "kind",
            weight=4.0,
            meaning="Both results are whole numbers of shape (batch_size, length).",
        ),
        central(
            also(
                "windows",
                "side_by_side",
                weight=13.0,
                meaning="The inputs of a row are neighbours in the text, in its order.",
            )
        ),
        Aspect(
            "every window may be drawn",
            ("starts",),
            KNOWN,
            weight=5.0,
            tags=USUAL,
            meaning="Every start that leaves room for the last target occurs, the first and the last one included.",
        ),
        Aspect("equally often", ("evenly",), KNOWN, 4.0, tags=USUAL, meaning="All windows are about equally likely."),
        Aspect(
            "random windows",
            ("random",),
            KNOWN,
            weight=13.0,
            central=True,
            tags=USUAL,
            meaning="The rows of a batch differ, and so do batches from different generators.",
        ),
        ONE_TOKEN,
        ONE_WINDOW,
        ONE_ROW,
        ROWS,
        CHANCE,
        untouched(),
    ),
)
