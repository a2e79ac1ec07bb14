"""`without_heads`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import strided
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
    "several heads", weight=3.0, meaning="All heads that are named are taken out, in one layer or in several."
)
NONE = aspects.special("no heads", meaning="With an empty list, everything stays as it is.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(
        which: list[tuple[int, int]], layers: int = 3, b: int = 3, h: int = 4, n: int = 5, **more: Any
    ) -> dict[str, Any]:
        return {"which": which, "heads": results(generator, layers, b, h, n, 2, **more)}

    not_contiguous = drawn([(0, 1)], 2)
    not_contiguous["heads"] = [strided(one) for one in not_contiguous["heads"]]
    return [
        Case.of("without a head of the first layer", **drawn([(0, 2)])),
        Case.of("without a head of the second layer", **drawn([(1, 3)])),
        Case.of("without the first head of the last layer", **drawn([(2, 0)], b=2, n=6)),
        Case.of("with as many heads as rows and tokens", **drawn([(1, 2)], b=4, n=4)),
        Case.of("without two heads of one layer", SEVERAL, **drawn([(1, 3), (1, 0)])),
        Case.of("without heads of two layers", SEVERAL, **drawn([(2, 1), (0, 3)])),
        Case.of("without all heads of a layer", SEVERAL, **drawn([(1, 0), (1, 1), (1, 2), (1, 3)])),
        Case.of("without any pair", NONE, **drawn([])),
        Case.of("on one row of one token", SMALLEST, **drawn([(1, 2)], b=1, n=1)),
        Case.of("with float64", aspects.FLOAT64, **drawn([(0, 1)], 2, dtype=torch.float64)),
        Case.of("with heads that are not contiguous", aspects.LAYOUT, **not_contiguous),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    which = list(inputs["which"])
    return observed(symbol(which), inputs, which)


def with_words(observation: Observation, case: Case) -> Observation:
    return in_words(observation, case, [torch.zeros_like(one) for one in case.inputs["heads"]], "zeros")


TRIAL = Trial(
    module="transformer_course.circuits.intervening",
    points=2,
    cases=cases,
    probe=probe,
    canonical=with_words,
    called=CALLED,
    aspects=(
        KIND,
        aspects.worded(aspects.values(8.0), "changes"),
        aspects.worded(SEVERAL, "changes"),
        aspects.worded(NONE, "changes"),
        *OF_EVERY_EDIT,
    ),
)
