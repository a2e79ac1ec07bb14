"""`ov_circuit`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import normal

SINGLE = aspects.special("a single head", meaning="With a single head, the result is right too.")
NARROW = aspects.special("heads of width one", meaning="With heads of width one, the result is right too.")


def cases(generator: np.random.Generator) -> list[Case]:
    h, width = (int(size) for size in generator.permutation([3, 4]))

    def drawn(v: int, h: int, width: int, dtype: Any = None) -> dict[str, Any]:
        d = h * width
        return {
            "embedded": normal(generator, v, d, dtype=dtype),
            "value": normal(generator, d, d, dtype=dtype) / d**0.5,
            "output": normal(generator, d, d, dtype=dtype) / d**0.5,
            "readout": normal(generator, v, d, dtype=dtype),
            "num_heads": h,
        }

    usual = Battery(drawn, v=8, h=h, width=width)
    return [
        usual.different(),
        Case.of("with as many heads as numbers a head", **drawn(5, 3, 3)),
        Case.of("with as many symbols as the stream is wide", **drawn(12, h, width)),
        Case.of("with a single symbol", aspects.BATCH_OF_ONE, **drawn(1, h, width)),
        Case.of("with a single head", SINGLE, **drawn(5, 1, 4)),
        Case.of("with heads of width one", NARROW, **drawn(7, 4, 1)),
        usual.float64(),
        usual.not_contiguous(),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1, 2, 3),
    aspects=(
        aspects.shape("shape (heads, vocab_size, vocab_size)", "The result has a square of all symbols for each head."),
        aspects.values(8.0),
        aspects.gradients(weight=1.0),
        SINGLE,
        NARROW,
        aspects.special("a single symbol", "one", 0.5, "With a single symbol, the result is right too."),
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
