"""`softmax_backward`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import dtype, main, shape, special, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import normal
from transformer_course.lessons.lesson_09.shares import of_scores
from transformer_course.numpy_transformer.functions import softmax

HIDDEN = special("hidden keys", meaning="A score whose weight is 0 gets the gradient 0.")
SINGLE = special("rows of one", meaning="A weight that is always 1 passes no gradient on.")
FLOAT32 = special("float32")


def cases(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 3, 7)

    def draw(*sizes: int, kind: Any = np.float64) -> dict[str, Any]:
        return {
            "weights": softmax(normal(generator, *sizes, dtype=kind) * kind(2)),
            "gradient": normal(generator, *sizes, dtype=kind),
        }

    hidden = draw(a, b)
    hidden["weights"][:, 1] = 0.0
    hidden["weights"] /= hidden["weights"].sum(axis=-1, keepdims=True)
    return [
        Case.of("on a single row", **draw(c)),
        Case.of("on several rows", **draw(a, b)),
        Case.of("on four axes, as attention has them", **draw(2, a, b, c)),
        Case.of("on a square of scores", **draw(b, b)),
        Case.of("where a key is hidden and has weight 0", HIDDEN, **hidden),
        Case.of("on rows of one", SINGLE, **draw(a, 1)),
        Case.of("with float32", FLOAT32, **draw(a, b, kind=np.float32)),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """And what is subtracted from the gradients of a row, said first."""
    if "error" in observation:
        return observation
    return {"shares": of_scores(observation.get("output"), **case.inputs), **observation}


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"shares": "what the gradients of a row's scores add up to"},
    aspects=(
        shape(),
        main(
            "values",
            keys=("shares", "output"),
            meaning="Each entry of the result should be right, not only its shape.",
        ),
        HIDDEN,
        SINGLE,
        dtype(),
        FLOAT32,
        untouched(),
    ),
)
