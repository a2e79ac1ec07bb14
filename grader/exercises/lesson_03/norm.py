"""`LayerNorm`: cases, mistakes and variants."""

from __future__ import annotations

import numpy as np
import torch

from course.blocks import LayerNorm
from grader.exercises import draw
from grader.exercises.aspects import KNOWN, USUAL, dtype, gradients, shape, special, untouched, values
from grader.exercises.lesson_03.drawing import Inputs, modes, parts, tagged
from grader.exercises.spec import Aspect, Case, Exercise


def _rows(generator: np.random.Generator) -> list[Case]:
    def rows(*sizes: int, kind: torch.dtype = torch.float32, scale: float = 2.0, shift: float = 1.0) -> Inputs:
        return {
            "x": shift + scale * draw.normal(generator, *sizes, dtype=kind),
            "weights": draw.norm(generator, "", sizes[-1], kind),
        }

    b, n, d = draw.dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))
    constant = rows(b, n, d)
    constant["x"][0, 0] = 1.5
    laid_out = rows(b, n, d)
    eps = float(generator.uniform(0.3, 0.9))
    return [
        Case("with three different sizes", rows(b, n, d), USUAL),
        Case("with three other sizes", rows(d, b, n + 4), USUAL),
        Case("where all sizes are equal", rows(side, side, side), USUAL),
        Case("with two columns", rows(b, n, 2), USUAL),
        Case("with two axes", rows(n, d), tagged("axes")),
        Case("with four axes", rows(2, b, n, d), tagged("axes")),
        Case("with a single vector", rows(d), tagged("axes")),
        Case("on a batch of one, with a single token", rows(1, 1, d), tagged("one")),
        Case("with numbers so close together that eps matters", rows(b, n, d, scale=3e-3, shift=0.0), tagged("eps")),
        Case("with another eps", {**rows(b, n, d, scale=0.8), "eps": eps}, tagged("other eps")),
        Case("with a vector whose numbers are all equal", constant, tagged("constant")),
        Case("with float64", rows(b, n, d, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


LAYER_NORM = Exercise(
    symbol="LayerNorm",
    points=3,
    cases=_rows,
    references=(LayerNorm,),
    aspects=(
        parts(),
        Aspect("begins with ones and zeros", keys=("start",), kinds=KNOWN),
        shape(),
        values(),
        gradients(),
        special("any number of axes", "axes"),
        special("a batch of one, a single token", "one", 0.5),
        special("eps where it matters", "eps", 2.0),
        special("another eps", "other eps"),
        special("equal numbers", "constant"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided", 0.5),
        modes(),
        untouched(),
    ),
    mistakes=(),
    variants={},
)
