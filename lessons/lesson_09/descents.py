"""What `SGD` and `Adam` are tried on, and what matters about both."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.aspects import dtype, main, special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect
from lessons.lesson_09.drawing import Inputs, normal


def draw_steps(generator: np.random.Generator, steps: int, kind: Any = np.float64, **options: Any) -> Inputs:
    a, b = dims(generator, 2, 2, 5)
    shapes = [(a, b), (b,)]

    def away(*shape: int) -> np.ndarray:
        """Numbers away from 0, where no eps of the usual size can be seen."""
        numbers = normal(generator, *shape, dtype=kind)
        return np.asarray(np.sign(numbers) * 20 + numbers * 5, dtype=kind)

    drawn: Inputs = {
        "parameters": [normal(generator, *shape, dtype=kind) for shape in shapes],
        "gradients": [[away(*shape) for shape in shapes] for _ in range(steps)],
        "learning_rate": float(generator.uniform(0.02, 0.1)),
    }
    return drawn | ({"options": options} if options else {})


FLOAT32 = special("float32", weight=0.5)


def of_optimiser(*more: Aspect) -> tuple[Aspect, ...]:
    return (
        main("values", 4.0, meaning="After each step, the caller's own arrays hold the right numbers."),
        *more,
        FLOAT32,
        dtype(weight=0.5),
        untouched("gradients untouched", 0.5, "After a step, the gradients are as they were before."),
    )
