"""`SGD`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.spec import Case, Trial
from lessons.lesson_09.descents import FLOAT32, draw_steps, of_optimiser


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        Case.of("after one step", **draw_steps(generator, 1)),
        Case.of("after three steps", **draw_steps(generator, 3)),
        Case.of("with float32", FLOAT32, **draw_steps(generator, 2, np.float32)),
    ]


TRIAL = Trial(
    module="course.numpy_transformer.optimisers",
    points=1,
    cases=cases,
    called={"output": "the parameters after each step"},
    aspects=of_optimiser(),
)
