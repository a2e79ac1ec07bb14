"""`TransformerClassifier`: cases, mistakes and variants. The contract names no parts, so properties are looked at."""

from __future__ import annotations

import numpy as np

from course.classifier import TransformerClassifier
from grader.exercises import draw
from grader.exercises.aspects import USUAL, untouched, values
from grader.exercises.spec import Case, Exercise


def _models(generator: np.random.Generator) -> list[Case]:
    return [
        Case(
            "with two blocks",
            {"sizes": [11, 7, 6, 2, 9, 2, 3], "tokens": draw.integers(generator, 1, 11, 4, 7), "kind": "float32"},
            USUAL,
        )
    ]


TRANSFORMER_CLASSIFIER = Exercise(
    symbol="TransformerClassifier",
    points=4,
    cases=_models,
    references=(TransformerClassifier,),
    aspects=(values(), untouched()),
    mistakes=(),
    variants={},
)
