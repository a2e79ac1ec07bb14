"""`random_offset_positions`: how it is tried. What is random is looked at through many draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring import draw
from grader.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, refused
from grader.authoring.spec import Aspect, Case, Observation, Trial, tagged

MANY = 1500


def special(name: str, meaning: str, keys: tuple[str, ...] = ("output", "offsets"), weight: float = 1.0) -> Aspect:
    return Aspect(name, keys, CONTENT, weight, tags=tagged(name), meaning=meaning)


JUST_FITS = special("a length that just fits", "Where length is max_length, the offset is 0.")
SINGLE = special("a single position", "With a length of 1, the result is right too.")
CHANCE = special(
    "randomness from the generator alone",
    "The same seed gives the same positions, another seed others, and no other randomness is used.",
    ("chance",),
    2.0,
)
REFUSED = refused("a length that doesn't fit is refused", weight=1.5)


def cases(generator: np.random.Generator) -> list[Case]:
    length, room, more = draw.dims(generator, 3, 3, 7)

    def case(label: str, *about: Aspect, length: int, most: int, **others: Any) -> Case:
        seed = int(generator.integers(1, 10**6))
        return Case.of(label, *about, length=length, max_length=most, seed=seed, **others)

    return [
        case("where there is room for a few offsets", length=length, most=length + room, draws=MANY),
        case("with another length", length=more, most=more + length, draws=MANY),
        case("where two offsets are possible", length=room, most=room + 1, draws=MANY),
        case("where the length just fits", JUST_FITS, length=length, most=length, draws=40),
        case("with a single position", SINGLE, length=1, most=room, draws=MANY),
        case("with one position and room for one", SINGLE, length=1, most=1, draws=40),
        case("where one position is too many", REFUSED, length=length + 1, most=length, draws=1),
        case("where the length is far too large", REFUSED, length=3 * more, most=more, draws=1),
        case("with the same generator, and with others", CHANCE, length=length, most=1000, chance=True),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """How evenly offsets are drawn is looked at in the usual cases only."""
    return {name: seen for name, seen in observation.items() if name != "evenly" or case.tags & USUAL}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What many draws have in common, and which offsets they have."""
    length, most, seed = inputs["length"], inputs["max_length"], inputs["seed"]
    if inputs.get("chance"):
        return {"chance": _source(symbol, length, most, seed)}
    generator = torch.Generator().manual_seed(seed)
    rows = [symbol(length, most, generator) for _ in range(inputs["draws"])]
    for row in rows:
        if not isinstance(row, torch.Tensor) or row.dim() != 1 or len(row) == 0:
            return {"output": "something else than a row of positions", "kind": _kind(row)}
    found = Counter(round(float(row[0])) for row in rows)
    even = max(found.values()) < 1.6 * min(found.values())
    return {
        "output": sorted({round(step) for row in rows for step in row.double().diff().tolist()})[:6],
        "kind": sorted({_kind(row) for row in rows})[0],
        "offsets": sorted(found)[:40],
        "evenly": "equally often" if even else "some far more often than others",
    }


def _kind(row: Any) -> str:
    if not isinstance(row, torch.Tensor):
        return f"a {type(row).__name__}"
    whole = not row.is_floating_point() and row.dtype != torch.bool and not row.is_complex()
    return f"{'whole' if whole else 'no whole'} numbers of shape {tuple(row.shape)}"


def _source(symbol: Any, length: int, most: int, seed: int) -> str:
    """Where the randomness comes from: the same seed twice, another one, one generator twice, the global generator."""

    def drawn(generator: torch.Generator) -> list[list[float]]:
        return [torch.as_tensor(symbol(length, most, generator)).flatten().tolist() for _ in range(4)]

    before = torch.get_rng_state()
    generator = torch.Generator().manual_seed(seed)
    first, second = drawn(generator), drawn(generator)
    if first != drawn(torch.Generator().manual_seed(seed)):
        return "other positions with the same seed"
    if first == drawn(torch.Generator().manual_seed(seed + 1)):
        return "the same positions with another seed"
    if first == second:
        return "the same positions when it is called again"
    return "from the generator alone" if torch.equal(before, torch.get_rng_state()) else "the global generator too"


TRIAL = Trial(
    module="course.length_generalization.positions",
    points=1,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "output": "by how much neighbouring positions differ",
        "offsets": "which offsets were drawn",
        "evenly": "how often offsets were drawn",
        "kind": "the result's shape and kind",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("length", "max_length")},
    aspects=(
        main("one after the other", 4.0, meaning="Each position is one more than the position before it."),
        also("whole numbers, shape (length,)", "kind", meaning="The result holds whole numbers, as many as length."),
        Aspect(
            "every offset may be drawn",
            ("offsets",),
            KNOWN,
            weight=6.0,
            tags=USUAL,
            meaning="All offsets from 0 to max_length - length occur, both included, and no others.",
        ),
        Aspect("equally often", ("evenly",), KNOWN, tags=USUAL, meaning="All offsets are about equally likely."),
        JUST_FITS,
        SINGLE,
        CHANCE,
        REFUSED,
    ),
)
