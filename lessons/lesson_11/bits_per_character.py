"""`bits_per_character`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import of_function, special, untouched
from grader.authoring.draw import number
from grader.authoring.spec import Case, Trial

SINGLE = special("a single character", meaning="A text of a single character gives the right result too.")
SURE = special("a loss of 0", meaning="A total loss of 0 gives 0 bits.")


def cases(generator: np.random.Generator) -> list[Case]:
    many, more, few = (int(n) for n in generator.integers([100, 1000, 3], [900, 9000, 12]))
    return [
        Case.of("on a short text", total_loss=number(generator, 200.0, 900.0), characters=many),
        Case.of("on a longer text", total_loss=number(generator, 3000.0, 9000.0), characters=more),
        Case.of("on a few characters", total_loss=number(generator, 1.0, 9.0), characters=few),
        Case.of("on a single character", SINGLE, total_loss=number(generator, 1.0, 5.0), characters=1),
        Case.of("for a model that is always sure, and right", SURE, total_loss=0.0, characters=many),
    ]


TRIAL = Trial(
    module="course.language_model.batches",
    points=1,
    cases=cases,
    aspects=(*of_function()[:2], SINGLE, SURE, untouched()),
)
