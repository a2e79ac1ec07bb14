"""`previous_token_score`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_15.drawing import attention, silenced

SHORTEST = aspects.special("a length of two", meaning="With two positions, only the second has one before it.")


def cases(generator: np.random.Generator) -> list[Case]:
    b, h, n = dims(generator, 3, 3, 7)

    def drawn(b: int, h: int, n: int, dtype: Any = None) -> dict[str, Any]:
        return {"weights": attention(generator, b, h, n, dtype)}

    usual = Battery(drawn, b=b, h=h, n=n)
    before_the_last = torch.zeros(n, n, dtype=torch.bool)
    before_the_last[-1, -2] = True
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with long rows", **drawn(2, 3, 9)),
        usual.batch_of_one(),
        Case.of("on rows of two tokens", SHORTEST, **drawn(b, h, 2)),
        Case.of("with a single head", **drawn(b, 1, n)),
        Case.of(
            "where the last position gives nothing to the one before",
            weights=silenced(attention(generator, b, h, n), before_the_last),
        ),
        usual.float64(),
        usual.not_contiguous(),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=1,
    cases=cases,
    aspects=(
        aspects.shape("shape (heads,)", "The result has the shape (heads,): one number for each head."),
        aspects.values(8.0),
        aspects.BATCH_OF_ONE,
        SHORTEST,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
