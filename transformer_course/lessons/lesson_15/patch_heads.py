"""`patch_heads`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import with_gaps
from transformer_course.lessons.lesson_15.edits import (
    CALLED,
    KIND,
    OF_EVERY_EDIT,
    SMALLEST,
    in_words,
    observed,
    results,
)

SEVERAL = aspects.special(
    "several heads", weight=2.0, meaning="All heads that are named are put in, in one layer or in several."
)
ALL = aspects.special(
    "all positions", weight=3.0, meaning="Where positions is None, or isn't given, all positions are put in."
)
NONE = aspects.special(
    "no heads, no positions",
    weight=1.5,
    meaning="With an empty list of heads or of positions, everything stays as it is.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(
        which: list[tuple[int, int]],
        *positions: Any,
        layers: int = 3,
        b: int = 3,
        h: int = 4,
        n: int = 6,
        dtype: Any = None,
    ) -> dict[str, Any]:
        inputs: dict[str, Any] = {
            "clean": results(generator, layers, b, h, n, 2, dtype),
            "which": which,
            "heads": results(generator, layers, b, h, n, 2, dtype),
        }
        return inputs | ({"positions": positions[0]} if positions else {})

    return [
        Case.of("with a head of the first layer at one position", **drawn([(0, 2)], [3])),
        Case.of("with a head of the second layer at two positions", **drawn([(1, 3)], [4, 1])),
        Case.of("with the first head of the last layer", **drawn([(2, 0)], [1, 4], b=2)),
        Case.of("with as many heads as rows and tokens", **drawn([(1, 2)], [3], b=4, n=4)),
        Case.of("with two heads of one layer", SEVERAL, **drawn([(1, 3), (1, 0)], [2])),
        Case.of("with heads of two layers", SEVERAL, **drawn([(2, 1), (0, 3)], [2, 4])),
        Case.of("at all positions", ALL, **drawn([(1, 1)], None)),
        Case.of("with positions left out", ALL, **drawn([(0, 3)])),
        Case.of("without any pair", NONE, **drawn([], [1])),
        Case.of("without any position", NONE, **drawn([(1, 2)], [])),
        Case.of("on one row of one token", SMALLEST, **drawn([(1, 2)], [0], b=1, n=1)),
        Case.of("with float64", aspects.FLOAT64, **drawn([(0, 1)], [2], layers=2, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(drawn([(0, 1)], [2], layers=2))),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    clean, which = inputs["clean"], list(inputs["which"])
    positions = [list(inputs["positions"])] if inputs.get("positions") is not None else []
    if "positions" in inputs and not positions:
        positions = [None]  # type: ignore[list-item]
    return observed(symbol(clean, which, *positions), inputs, clean, which, *positions)


def with_words(observation: Observation, case: Case) -> Observation:
    return in_words(observation, case, case.inputs["clean"], "the other run")


TRIAL = Trial(
    module="transformer_course.circuits.intervening",
    points=3,
    cases=cases,
    probe=probe,
    canonical=with_words,
    called=CALLED,
    aspects=(
        KIND,
        aspects.worded(aspects.values(10.0), "changes"),
        aspects.worded(SEVERAL, "changes"),
        aspects.worded(ALL, "changes"),
        aspects.worded(NONE, "changes"),
        *OF_EVERY_EDIT,
    ),
)
