"""`SwiGLU`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    also,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    untouched,
    values,
)
from grader.authoring.draw import dims, normal, strided
from grader.authoring.modules import followed
from grader.authoring.spec import Case, Trial
from lessons.aspects import special
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import gated_weights
from lessons.lesson_11.fresh_modules import fresh, learned_numbers

AXES = special("any number of axes", meaning="The input may have any number of axes: a vector works too.")
ONE = special("a batch of one, a single token", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    def rows(d_ff: int, *sizes: int, dtype: torch.dtype = torch.float32) -> Inputs:
        weights = gated_weights(generator, "", sizes[-1], d_ff, dtype)
        return {"d_ff": d_ff, "x": normal(generator, *sizes, dtype=dtype), "weights": weights}

    b, n, d = dims(generator, 3, 2, 6)
    wide = int(generator.integers(8, 12))
    laid_out = rows(wide, b, n, d)
    return [
        Case.of("with a wide middle", **rows(wide, b, n, d)),
        Case.of("with a narrow middle", **rows(2, n, b, d + 3)),
        Case.of("where d_ff equals d_model", **rows(d, b, n, d)),
        Case.of("with a single vector", AXES, **rows(wide, d)),
        Case.of("with four axes", AXES, **rows(wide, 2, b, n, d)),
        Case.of("on a batch of one, with a single token", ONE, **rows(wide, 1, 1, d)),
        Case.of("with float64", FLOAT64, **rows(wide, b, n, d, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **{**laid_out, "x": strided(laid_out["x"])}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = fresh(symbol, x.shape[-1], inputs["d_ff"])
    return {"size": learned_numbers(module), **followed(module, inputs["weights"], [x])}


TRIAL = Trial(
    module="course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe,
    aspects=(
        parts(2.0),
        also("nothing else to learn", "size", meaning="Three weights without bias are all that learns."),
        shape(),
        values(7.0),
        gradients(),
        AXES,
        ONE,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
