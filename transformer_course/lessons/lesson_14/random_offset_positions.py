"""`random_offset_positions`: how it is tried. What is random is looked at through many draws."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, refused
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial, tagged

MANY, SOME, FEW = 900, 300, 25
"""Draws that show how often each offset comes; those that show every offset, though some come rarely; and those that
show that one always comes."""


def special(name: str, meaning: str, keys: tuple[str, ...] = ("output", "offsets"), weight: float = 1.0) -> Aspect:
    return Aspect(name, keys, CONTENT, weight, tags=tagged(name), meaning=meaning)


JUST_FITS = special("a length that just fits", "Where length is max_length, the offset is 0.")
SINGLE = special("a single position", "With a length of 1, the result is right too.")
CHANCE = special(
    "randomness from the generator alone",
    "The same seed gives the same positions, a different seed gives different ones, and no other randomness is used.",
    ("chance",),
    2.0,
)
REFUSED = refused("a length that doesn't fit is refused", weight=1.5)


def cases(generator: np.random.Generator) -> list[Case]:
    length, room, more = draw.dims(generator, 3, 3, 7)
    several = int(generator.integers(4, 8))

    def case(label: str, *about: Aspect, length: int, most: int, **others: Any) -> Case:
        seed = int(generator.integers(1, 10**6))
        return Case.of(label, *about, length=length, max_length=most, seed=seed, **others)

    return [
        case("where there is room for a few offsets", length=several, most=several + 7, draws=MANY),
        case("with a different length", length=length, most=length + more, draws=SOME),
        case("where two offsets are possible", length=room, most=room + 1, draws=SOME // 2),
        case("where the length just fits", JUST_FITS, length=length, most=length, draws=FEW),
        case("with a single position", SINGLE, length=1, most=room, draws=SOME),
        case("with one position and room for one", SINGLE, length=1, most=1, draws=FEW),
        case("where one position is too many", REFUSED, length=length + 1, most=length, draws=1),
        case("where the length is far too large", REFUSED, length=3 * more, most=more, draws=1),
        case("with the same generator, and with others", CHANCE, length=length, most=1000, chance=True),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """How evenly offsets are drawn is looked at where there are many draws."""
    return {name: seen for name, seen in observation.items() if name != "evenly" or case.inputs.get("draws") == MANY}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What many draws have in common, and which offsets they have."""
    length, most, seed = inputs["length"], inputs["max_length"], inputs["seed"]
    if inputs.get("chance"):
        return {"chance": _source(symbol, length, most, seed)}
    generator = torch.Generator().manual_seed(seed)
    rows = [symbol(length, most, generator) for _ in range(inputs["draws"])]
    for row in rows:
        if not isinstance(row, torch.Tensor) or row.dim() != 1 or len(row) == 0:
            return {"output": "something other than a row of positions", "kind": _kind(row)}
    places = [row.tolist() for row in rows]
    counts = Counter(round(row[0]) for row in places)
    return {
        "output": _steps({round(after - before) for row in places for before, after in pairwise(row)}),
        "kind": min(map(_kind, {(row.dtype, row.shape): row for row in rows}.values())),
        "offsets": _listed(sorted(counts), most - length),
        "evenly": _how_often([counts[offset] for offset in sorted(counts)]),
    }


def _steps(steps: set[int]) -> list[int] | str:
    """By how much neighbours differ. Which numbers they are says nothing where chance decides."""
    if len(steps) <= 2:
        return sorted(steps)
    least = "never less" if min(steps) > 0 else "sometimes 0" if min(steps) == 0 else "sometimes less than 0"
    return f"sometimes more than 1, and {least}"


def _how_often(counts: list[int]) -> str:
    """How often each offset was drawn, the smallest first: the likeliest of some ways that may well be it."""
    places = len(counts)
    ways = {
        "equally often": [1] * places,
        "the smallest and the largest less often than the others": [1, *[2] * (places - 2), 1][:places],
        "more often towards the middle": [min(place + 1, places - place) for place in range(places)],
    }
    likely = {}
    for way, weights in ways.items():
        expected = np.array(weights) * sum(counts) / sum(weights)
        if ((counts - expected) ** 2 / expected).sum() < 65:  # chance alone makes it more once in 10**11 times
            likely[way] = float(counts @ np.log(expected))
    if likely:
        return max(likely, key=lambda way: likely[way])
    most = counts.index(max(counts))
    which = {0: "the smallest", places - 1: "the largest"}.get(most, "one in between")
    return f"{which} far more often than the others"


def _listed(offsets: list[int], largest: int) -> str:
    """Which offsets were drawn, in words: all that are possible are few."""
    if len(offsets) == 1 < largest + 1:
        return "always the same one"
    if offsets[-1] > largest + 1:
        return f"from {offsets[0]} to far beyond {largest}"
    return ", ".join(map(str, offsets[:40]))


def _kind(row: Any) -> str:
    if not isinstance(row, torch.Tensor):
        return f"a {type(row).__name__}"
    whole = not row.is_floating_point() and row.dtype != torch.bool and not row.is_complex()
    return f"{'whole' if whole else 'no whole'} numbers of shape {tuple(row.shape)}"


def _source(symbol: Any, length: int, most: int, seed: int) -> str:
    """Where the randomness comes from: the same seed twice, another one, one generator twice, the global generator."""

    def drawn(generator: torch.Generator) -> list[list[float]]:
        return [torch.as_tensor(symbol(length, most, generator)).flatten().tolist() for _ in range(20)]

    before = torch.get_rng_state()
    generator = torch.Generator().manual_seed(seed)
    first, second = drawn(generator), drawn(generator)
    if first != drawn(torch.Generator().manual_seed(seed)):
        return "other positions with the same seed"
    if first == drawn(torch.Generator().manual_seed(seed + 1)):
        ends = {": always the first ones": 0, ": always the last ones": most - length}
        which = [words for words, start in ends.items() if first[0] == list(range(start, start + length))]
        return "the same positions with a different seed" + "".join(which)
    if first == second:
        return "the same positions when it is called again"
    return "from the generator alone" if torch.equal(before, torch.get_rng_state()) else "the global generator too"


TRIAL = Trial(
    module="transformer_course.length_generalization.positions",
    points=1,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "output": "by how much neighbouring positions differ",
        "offsets": "which offsets were drawn",
        "evenly": "how often offsets were drawn",
        "kind": "the result's shape and kind",
        "chance": "where the randomness comes from",
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
            central=True,
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
