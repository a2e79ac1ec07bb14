"""`LayerNorm`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import built, followed
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls

AXES = special("any number of axes", meaning="The input may have any number of axes: a single vector works too.")
ONE = special("a batch of one, a single token", weight=0.5)
EPS = special(
    "eps where it matters",
    weight=2.0,
    meaning="The result is right even if the numbers are so close together that eps matters.",
)
ANOTHER_EPS = special("another eps", meaning="The eps that is passed in is used.")
EQUAL = special("equal numbers", meaning="A vector whose numbers are all equal gives the right result, not NaN.")


def cases(generator: np.random.Generator) -> list[Case]:
    def rows(*sizes: int, dtype: torch.dtype = torch.float32, scale: float = 2.0, shift: float = 1.0) -> Inputs:
        x = normal(generator, *sizes, dtype=dtype) + torch.linspace(-3, 3, sizes[-1], dtype=dtype)  # well apart
        return {"x": shift + scale * x, "weights": drawing.norm(generator, "", sizes[-1], dtype)}

    b, n, d = dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))
    # In float64 the place of eps shows anywhere, but in numbers as large as these.
    constant = rows(b, n, d, dtype=torch.float64, scale=1e5)
    constant["x"][0, 0] = 1.5
    laid_out = with_gaps(rows(b, n, d))
    eps = float(generator.uniform(0.3, 0.9))
    return [
        Case.of("with three different sizes", **rows(b, n, d)),
        Case.of("with three other sizes", **rows(d, b, n + 4)),
        Case.of("where all sizes are equal", **rows(side, side, side)),
        Case.of("with two columns", **rows(b, n, 2)),
        Case.of("with two axes", AXES, **rows(n, d)),
        Case.of("with four axes", AXES, **rows(2, b, n, d)),
        Case.of("with a single vector", AXES, **rows(d)),
        Case.of("on a batch of one, with a single token", ONE, **rows(1, 1, d)),
        Case.of("with numbers so close together that eps matters", EPS, **rows(b, n, d, scale=2e-3, shift=0.0)),
        Case.of("with another eps", ANOTHER_EPS, **rows(b, n, d, scale=0.8), eps=eps),
        Case.of("with a vector whose numbers are all equal", EQUAL, **constant),
        Case.of(
            "after calls on other rows", AGAIN, **rows(b, n, d), before=[(rows(*s, d)["x"],) for s in ((n,), (b, n))]
        ),
        Case.of("with float64", aspects.FLOAT64, **rows(b, n, d, dtype=torch.float64, scale=1e5)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """The place and the size of eps are asked for once, in the result, and not again in the gradients."""
    about_eps = case.tags & (EPS.tags | ANOTHER_EPS.tags)
    return {name: seen for name, seen in observation.items() if name != "gradients" or not about_eps}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = after_other_calls(built(symbol, x.shape[-1], *given(inputs, "eps")), inputs)
    fresh = [getattr(module, name, None) for name in ("weight", "bias")]
    start = [tensor.detach().clone() if isinstance(tensor, torch.Tensor) else None for tensor in fresh]
    return {"start": start, **followed(module, inputs["weights"], [x])}


TRIAL = Trial(
    module="transformer_course.blocks",
    points=3,
    cases=cases,
    probe=probe,
    canonical=canonical,
    aspects=aspects.of_module(
        AXES,
        ONE,
        EPS,
        ANOTHER_EPS,
        EQUAL,
        AGAIN,
        begins=[
            aspects.also(
                "begins with ones and zeros", "start", meaning="A new layer has a weight of ones and a bias of zeros."
            )
        ],
    ),
)
