"""`RMSNorm`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import built, followed
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import learned_numbers
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

AXES = special("any number of axes", meaning="The input may have any number of axes: a vector works too.")
ONE = special("a batch of one, a single token", weight=0.5)
SMALL = special(
    "eps where it matters", weight=2.0, meaning="The result is right even if the numbers are so small that eps matters."
)
OTHER_EPS = special("another eps", meaning="The eps that is passed in is used.")
ZEROS = special("a vector of zeros", meaning="A vector of zeros gives zeros, not NaN.")
AGAIN = special("called again", weight=2.0, meaning="A later call, with other vectors, is as right as the first.")


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def rows(*sizes: int, dtype: torch.dtype = torch.float32, scale: float = 2.0) -> Inputs:
        x = 0.6 + normal(generator, *sizes, dtype=dtype) + torch.linspace(-1, 3, sizes[-1], dtype=dtype)
        return {"x": scale * x, "weights": {"weight": 1 + normal(generator, sizes[-1], dtype=dtype) / 2}}

    b, n, d = dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))
    zeros = rows(b, n, d)
    zeros["x"][0, 0] = 0.0
    laid_out, again, longer = with_gaps(rows(b, n, d)), rows(b, n, d), rows(b, n, d)
    eps = float(generator.uniform(0.3, 0.9))
    return [
        Case.of("with three different sizes", **rows(b, n, d)),
        Case.of("with three other sizes", **rows(d, b, n + 4)),
        Case.of("where all sizes are equal", **rows(side, side, side)),
        Case.of("with two axes", AXES, **rows(n, d)),
        Case.of("with four axes", AXES, **rows(2, b, n, d)),
        Case.of("with a single vector", AXES, **rows(d)),
        Case.of("on a batch of one, with a single token", ONE, **rows(1, 1, d)),
        Case.of("with numbers so small that eps matters", SMALL, **rows(b, n, d, scale=2e-3)),
        Case.of("with another eps", OTHER_EPS, **rows(b, n, d, scale=0.5), eps=eps),
        Case.of("with a vector of zeros", ZEROS, **zeros),
        Case.of("in a call that follows one with other vectors", AGAIN, **again, before=rows(b, n, d)["x"]),
        Case.of("in a call that follows one with a single vector", AGAIN, **longer, before=rows(d)["x"]),
        Case.of("with float64", aspects.FLOAT64, **rows(b, n, d, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """The place and the size of eps, and later calls, are asked for once, in the result, not again in the gradients."""
    apart = case.tags & (SMALL.tags | OTHER_EPS.tags | ZEROS.tags | AGAIN.tags)
    return {name: seen for name, seen in observation.items() if name != "gradients" or not apart}


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    inputs, in_words = without_the_wish(inputs)
    x = inputs["x"]
    module = built(symbol, x.shape[-1], *given(inputs, "eps"))
    weight = getattr(module, "weight", None)
    start = weight.detach().clone() if isinstance(weight, torch.Tensor) else None
    if "before" in inputs:
        with torch.no_grad():
            module(inputs["before"])
    seen = {"start": start, "size": learned_numbers(module), **followed(module, inputs["weights"], [x])}
    return {"mixed": first_said(lambda: _mixed(symbol)), **seen} if in_words else seen


def _mixed(symbol: Any) -> str:
    """Whether what comes out for one vector depends on another one."""
    module = asked(built, symbol, 4).eval()
    x = torch.tensor([[[1.0, 2.0, -1.0, 3.0], [2.0, -3.0, 1.0, 1.0]], [[4.0, 1.0, 1.0, -2.0], [1.0, 1.0, 2.0, 3.0]]])
    seen = {"another vector of the same row": (0, 1), "a vector of another row of the batch": (1, 0)}
    with torch.no_grad():
        first = _first_vector(asked(module, x.clone()))
        for which, place in seen.items():
            other = x.clone()
            other[place] *= 3
            if not torch.allclose(_first_vector(asked(module, other)), first, rtol=1e-3, atol=1e-4):
                return f"What comes out for one vector depends on {which}. What is the mean of the squares taken over?"
    return AS_ASKED


def _first_vector(output: Any) -> torch.Tensor:
    if not isinstance(output, torch.Tensor) or output.shape != (2, 2, 4):
        raise Unwatched
    return output[0, 0]


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "start": "the weight of a new norm",
        "size": "how many numbers it learns",
        "mixed": "what a vector depends on",
    },
    aspects=aspects.with_words(
        aspects.of_module(
            AXES,
            ONE,
            SMALL,
            OTHER_EPS,
            ZEROS,
            AGAIN,
            begins=[
                aspects.also(
                    "learns its weight, and nothing else",
                    "size",
                    weight=8.0,
                    meaning="The norm learns d_model numbers, no more and no fewer.",
                ),
                aspects.also("begins with ones", "start", weight=3.0, meaning="A new norm has a weight of ones."),
            ],
            values_weight=6.0,
        ),
        "mixed",
    ),
)
