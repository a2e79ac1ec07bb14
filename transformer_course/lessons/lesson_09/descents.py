"""What `SGD` and `Adam` are tried on, and what matters about both."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import also, dtype, main, special
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect
from transformer_course.lessons.lesson_09.drawing import Inputs, normal


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
BESIDE = special("beside another", weight=0.5, meaning="Two optimisers of one kind don't get in each other's way.")
CALLED = {"output": "the parameters after each step", "left": "the gradients after a step", "steps": "your steps"}


def of_optimiser(*more: Aspect) -> tuple[Aspect, ...]:
    return (
        main(
            "values",
            4.0,
            ("steps", "output"),
            meaning="After each step, the caller's own arrays hold the right numbers.",
        ),
        *more,
        BESIDE,
        FLOAT32,
        dtype(weight=0.5),
        also("gradients untouched", "left", weight=0.5, meaning="A step leaves the gradients as they are."),
    )
