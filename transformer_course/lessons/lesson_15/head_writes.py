"""`head_writes`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import normal

SINGLE = aspects.special("a single head", meaning="With a single head, the result is right too.")
NARROW = aspects.special("heads of width one", meaning="With heads of width one, the result is right too.")


def cases(generator: np.random.Generator) -> list[Case]:
    h, d = (int(size) for size in generator.permutation([3, 4]))

    def drawn(b: int, h: int, n: int, d: int, dtype: Any = None) -> dict[str, Any]:
        return {
            "heads": normal(generator, b, h, n, d, dtype=dtype),
            "weight": normal(generator, h * d, h * d, dtype=dtype),
        }

    usual = Battery(drawn, b=4, h=h, n=5, d=d)
    return [
        usual.different(),
        Case.of("with as many heads as numbers a head", **drawn(2, 3, 4, 3)),
        usual.equal(2),
        usual.batch_of_one(),
        Case.of("on a single token", aspects.LENGTH_ONE, **drawn(3, h, 1, d)),
        Case.of("with a single head", SINGLE, **drawn(3, 1, 5, 4)),
        Case.of("with heads of width one", NARROW, **drawn(3, 4, 5, 1)),
        usual.float64(),
        usual.not_contiguous(),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1),
    aspects=(
        aspects.shape(
            "shape (batch, heads, length, d_model)",
            "For each head the result has a vector of the stream's width for each token.",
        ),
        aspects.values(8.0),
        aspects.gradients(weight=1.0),
        aspects.BATCH_OF_ONE,
        aspects.LENGTH_ONE,
        SINGLE,
        NARROW,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
