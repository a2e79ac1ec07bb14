"""`SGD`: how it is tried."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.descents import BESIDE, CALLED, FLOAT32, draw_steps, of_optimiser
from transformer_course.lessons.wordings import usually_in_words


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    return [
        Case.of("after one step", **draw_steps(generator, 1)),
        Case.of("after three steps", **draw_steps(generator, 3)),
        Case.of("beside another optimiser", BESIDE, **draw_steps(generator, 2), beside=True),
        Case.of("with float32", FLOAT32, **draw_steps(generator, 2, np.float32)),
    ]


TRIAL = Trial(
    module="transformer_course.numpy_transformer.optimisers",
    points=1,
    cases=cases,
    called=CALLED,
    aspects=of_optimiser(),
)
