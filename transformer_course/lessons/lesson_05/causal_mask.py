"""`causal_mask`: how it is tried."""

import numpy as np

from cellcheck.authoring.aspects import dtype, shape, special, values
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial

SHORT = special("one and two positions", meaning="The mask is right even for one or two positions.")
LONG = special("many positions", meaning="The mask is right for a long row too.")


def cases(generator: np.random.Generator) -> list[Case]:
    few, more = sorted(dims(generator, 2, 4, 9))
    return [
        Case.of(f"with {few} positions", length=few),
        Case.of(f"with {more} positions", length=more),
        Case.of("with three positions", length=3),
        Case.of("with two positions", SHORT, length=2),
        Case.of("with a single position", SHORT, length=1),
        Case.of("with forty positions", LONG, length=40),
    ]


TRIAL = Trial(
    module="transformer_course.causal",
    points=2,
    cases=cases,
    aspects=(shape(), values(), SHORT, LONG, dtype("booleans", 2.0, "The entries are True and False.")),
)
