"""`SwiGLU`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import followed
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers
from transformer_course.lessons.lesson_12.drawing import gated_weights

AXES = special("any number of axes", meaning="The input may have any number of axes: a vector works too.")
ONE = special("a batch of one, a single token", weight=0.5)
AGAIN = special("called again", weight=1.5, meaning="A later call, with other vectors, is as right as the first.")


def cases(generator: np.random.Generator) -> list[Case]:
    def rows(d_ff: int, *sizes: int, dtype: torch.dtype = torch.float32) -> Inputs:
        weights = gated_weights(generator, "", sizes[-1], d_ff, dtype)
        return {"d_ff": d_ff, "x": normal(generator, *sizes, dtype=dtype), "weights": weights}

    b, n, d = dims(generator, 3, 2, 6)
    wide = int(generator.integers(8, 12))
    laid_out, again, longer = with_gaps(rows(wide, b, n, d)), rows(wide, b, n, d), rows(wide, b, n, d)
    return [
        Case.of("with a wide middle", **rows(wide, b, n, d)),
        Case.of("with a narrow middle", **rows(2, n, b, d + 3)),
        Case.of("where d_ff equals d_model", **rows(d, b, n, d)),
        Case.of("with a single vector", AXES, **rows(wide, d)),
        Case.of("with four axes", AXES, **rows(wide, 2, b, n, d)),
        Case.of("on a batch of one, with a single token", ONE, **rows(wide, 1, 1, d)),
        Case.of("in a call that follows one with other vectors", AGAIN, **again, before=rows(wide, b, n, d)["x"]),
        Case.of("in a call that follows one with a single vector", AGAIN, **longer, before=rows(wide, d)["x"]),
        Case.of("with float64", aspects.FLOAT64, **rows(wide, b, n, d, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """What a later call gives is asked for once, in the output, and not again in the gradients."""
    again = AGAIN.tags & case.tags
    return {name: seen for name, seen in observation.items() if name != "gradients" or not again}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = fresh(symbol, x.shape[-1], inputs["d_ff"])
    if "before" in inputs:
        with torch.no_grad():
            module(inputs["before"])
    return {"size": learned_numbers(module), **followed(module, inputs["weights"], [x])}


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={"size": "how many numbers it learns"},
    aspects=aspects.of_module(
        AXES,
        ONE,
        AGAIN,
        begins=[
            aspects.also("nothing else to learn", "size", meaning="Three weights without bias are all that learns.")
        ],
        parts_weight=2.0,
        values_weight=7.0,
    ),
)
