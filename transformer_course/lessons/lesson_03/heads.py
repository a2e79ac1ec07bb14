"""What matters about both ways between vectors and heads."""

from dataclasses import replace

from cellcheck.authoring import aspects

WHOLE = aspects.special("whole numbers", weight=0.5, meaning="Tensors of integers work as well as tensors of floats.")
ASPECTS = (
    aspects.shape(),
    aspects.values(),
    aspects.gradients(1.0),
    aspects.LENGTH_ONE,
    WHOLE,
    aspects.dtype(),
    replace(aspects.FLOAT64, weight=0.5),
    aspects.LAYOUT,
    aspects.untouched(weight=0.5),
)
