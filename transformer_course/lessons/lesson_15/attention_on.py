"""`attention_on`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_15.drawing import attention, silenced, targets

NOTHING = aspects.special(
    "no target anywhere", weight=2.0, meaning="Where no position has a target, the result is zeros, not NaN."
)
UNEVEN = aspects.special(
    "rows with few targets",
    weight=2.0,
    meaning="All positions that have a target count alike, whichever row they are in.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    b, h, n = dims(generator, 3, 3, 7)

    def drawn(b: int, h: int, n: int, dtype: Any = None) -> dict[str, Any]:
        return {"weights": attention(generator, b, h, n, dtype), "targets": targets(generator, b, n)}

    usual = Battery(drawn, b=b, h=h, n=n)
    single = drawn(b, h, n)
    single["targets"] = torch.zeros(b, n, n, dtype=torch.bool)
    single["targets"][:, -2:, 1] = True
    uneven = drawn(b, h, n + 2)
    uneven["targets"][1:] = False
    uneven["targets"][1, -1, -1] = True
    two = drawn(b, h, n)
    two["targets"][:] = False
    two["targets"][0, -1, 1] = two["targets"][1, -2, 0] = True
    lonely = drawn(b, h, n)
    lonely["targets"][:] = False
    lonely["targets"][1, -2, 0] = True
    nothing = drawn(b, h, n)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    unheard = drawn(b, h, n)
    last = torch.zeros_like(unheard["targets"])
    last[-1, -1] = unheard["targets"][-1, -1]
    unheard["weights"] = silenced(unheard["weights"], last.unsqueeze(1))
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with one target for the last two positions", **single),
        Case.of("where the last position gives nothing to its targets", **unheard),
        Case.of("with two positions that have a target", **two),
        Case.of("with many targets in one row and one in another", UNEVEN, **uneven),
        Case.of("with a single position that has a target", UNEVEN, **lonely),
        Case.of("without any target", NOTHING, **nothing),
        usual.batch_of_one(),
        Case.of("with a single head", **drawn(b, 1, n)),
        usual.float64(),
        usual.not_contiguous(),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=2,
    cases=cases,
    aspects=(
        aspects.shape("shape (heads,)", "The result has the shape (heads,): one number for each head."),
        aspects.values(8.0),
        UNEVEN,
        NOTHING,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
