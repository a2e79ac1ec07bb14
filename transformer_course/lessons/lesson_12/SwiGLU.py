"""`SwiGLU`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import followed, hand_in
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers
from transformer_course.lessons.lesson_12.drawing import gated_weights
from transformer_course.lessons.lesson_12.gates import of_gate
from transformer_course.lessons.watching import Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

AXES = special("any number of axes", meaning="The input may have any number of axes: a vector works too.")
ONE = special("a batch of one, a single token", weight=0.5)
AGAIN = special("called again", weight=1.5, meaning="A later call, with other vectors, is as right as the first.")


@usually_in_words
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
    inputs, in_words = without_the_wish(inputs)
    x = inputs["x"]
    words = {"gated": first_said(lambda: asked(of_gate, lambda *numbers: _unit(symbol, *numbers)))} if in_words else {}
    module = fresh(symbol, x.shape[-1], inputs["d_ff"])
    if "before" in inputs:
        with torch.no_grad():
            module(inputs["before"])
    return {**words, "size": learned_numbers(module), **followed(module, inputs["weights"], [x])}


def _unit(symbol: Any, x: torch.Tensor, gate: float, up: float) -> torch.Tensor:
    """What comes from a unit whose gate computes `gate` times the first of three numbers, and `up` times the second.

    There is another unit, which takes the third number alone. Of x (rows, 3), the result is (rows,).
    """
    weights = {
        "gate.weight": torch.tensor([[gate, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        "up.weight": torch.tensor([[0.0, up, 0.0], [0.0, 0.0, 1.0]]),
        "down.weight": torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]),
    }
    module = asked(fresh, symbol, 3, 2)
    _, places = hand_in(module, weights)
    if len(places) < len(weights):
        raise Unwatched
    with torch.no_grad():
        result = asked(module.eval(), x)
    if not isinstance(result, torch.Tensor) or result.shape != x.shape:
        raise Unwatched
    return result[:, 0]


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={"gated": "how the gate works", "size": "how many numbers it learns"},
    aspects=aspects.with_words(
        aspects.of_module(
            AXES,
            ONE,
            AGAIN,
            begins=[
                aspects.also("nothing else to learn", "size", meaning="Three weights without bias are all that learns.")
            ],
            parts_weight=2.0,
            values_weight=7.0,
        ),
        "gated",
    ),
)
