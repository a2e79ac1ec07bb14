"""`linear_probe`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.draw import normal

ABSENT = aspects.special(
    "a class that never occurs", weight=2.0, meaning="A class that no label has still gets its column."
)
FEW = aspects.special(
    "fewer rows than numbers", weight=2.0, meaning="With fewer rows than columns, `ridge` makes the solution unique."
)
RIDGE = aspects.special("another ridge", weight=3.0, meaning="The ridge that is passed in is used.")
USUAL_RIDGE = aspects.special("no ridge passed in", meaning="Without a ridge, it is 1.")
SINGLE = aspects.special("a single row", meaning="A single row is enough for a result.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, d: int, c: int, ridge: float | None = 0.7, dtype: Any = None) -> dict[str, Any]:
        labels = torch.from_numpy(generator.permutation(np.arange(n) % c))
        states = normal(generator, n, d, dtype=dtype) + 0.5
        states[:, 0] += 2 * (labels == 0)
        inputs: dict[str, Any] = {"states": states, "labels": labels, "classes": c}
        return inputs if ridge is None else inputs | {"ridge": ridge}

    usual = Battery(drawn, n=17, d=5, c=3)
    absent = drawn(12, 4, 3)
    absent["classes"] = 5
    return [
        usual.different(),
        Case.of("with two classes", **drawn(20, 3, 2, 1.5)),
        Case.of("with as many classes as numbers", **drawn(21, 4, 4, 0.8)),
        Case.of("with a large ridge", RIDGE, **drawn(15, 4, 3, 30.0)),
        Case.of("with a small ridge", RIDGE, **drawn(15, 4, 3, 0.1)),
        Case.of("without a ridge", USUAL_RIDGE, **drawn(15, 4, 3, None)),
        Case.of("with classes that never occur", ABSENT, **absent),
        Case.of("with fewer rows than numbers", FEW, **drawn(3, 6, 2, 0.9)),
        Case.of("with a single row", SINGLE, **drawn(1, 4, 2, 0.6)),
        usual.float64(),
        usual.not_contiguous(),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    aspects=(
        aspects.shape(
            "shape (d + 1, classes)", "The result has a row for each number of a state and one for the ones."
        ),
        aspects.values(8.0),
        RIDGE,
        USUAL_RIDGE,
        ABSENT,
        FEW,
        SINGLE,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
