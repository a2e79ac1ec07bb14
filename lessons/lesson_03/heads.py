"""What matters about both ways between vectors and heads."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.aspects import FLOAT64, LAYOUT, LENGTH_ONE, dtype, gradients, shape, special, untouched, values

WHOLE = special("whole numbers", weight=0.5, meaning="Tensors of integers work as well as tensors of floats.")
ASPECTS = (
    shape(),
    values(),
    gradients(1.0),
    LENGTH_ONE,
    WHOLE,
    dtype(),
    replace(FLOAT64, weight=0.5),
    LAYOUT,
    untouched(weight=0.5),
)
