"""`LearnedPositionalEmbedding`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import built, followed
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls
from transformer_course.lessons.watching import AS_ASKED

FULL = special("a full table", meaning="A row as long as the table gets the right positions too.")
EQUAL = special(
    "batch, length and d_model of one size",
    weight=0.5,
    meaning="The positions run along the right axis even when batch, length and d_model are equal.",
)
ONE = special("a batch of one, a single token")


def cases(generator: np.random.Generator) -> list[Case]:
    def table(batch: int, length: int, d_model: int, max_length: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "max_length": max_length,
            "x": normal(generator, batch, length, d_model, dtype=dtype),
            "weights": {"embedding.weight": normal(generator, max_length, d_model, dtype=dtype)},
        }

    b, n, d = dims(generator, 3, 2, 7)
    b, n = sorted((b, n))  # fewer rows than tokens, so that no count of rows looks like a position
    room = n + int(generator.integers(8, 11))
    side = int(generator.integers(3, 6))
    laid_out = with_gaps(table(b, n, d, room))
    return [
        Case.of("with four different sizes", **table(b, n, d, room)),
        Case.of("with more rows in the batch than tokens in a row", **table(n + 3, n, d, room)),
        Case.of("with fewer rows in the batch than tokens in a row", **table(n, n + 3, d, room)),
        Case.of("where the row fills the table", FULL, **table(b, n, d, n)),
        Case.of("where batch, length and d_model are equal", EQUAL, **table(side, side, side, side + 2)),
        Case.of("on a batch of one", ONE, **table(1, n, d, room)),
        Case.of("with a single token", ONE, **table(b, 1, d, room)),
        Case.of("after a call on a single token", AGAIN, **table(b, n, d, room), before=[(table(b, 1, d, room)["x"],)]),
        Case.of(
            "after a call on longer rows", AGAIN, **table(b, n, d, room), before=[(table(1, n + 1, d, room)["x"],)]
        ),
        Case.of("with float64", aspects.FLOAT64, **table(b, n, d, room, torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = after_other_calls(built(symbol, inputs["max_length"], x.shape[-1]), inputs)
    return followed(module, inputs["weights"], [x])


def in_words(observation: Observation, case: Case) -> Observation:
    """What is seen, and which rows of the table no gradient reaches although they are added."""
    x, table = case.inputs["x"], case.inputs["weights"]["embedding.weight"]
    output = observation.get("output")
    right = x + table[: x.shape[1]]
    if (
        not isinstance(output, torch.Tensor)
        or output.shape != x.shape
        or not torch.allclose(output.to(right.dtype), right, atol=1e-5)
    ):
        return {"learnt": AS_ASKED, **observation}
    return {"learnt": _learnt(observation.get("gradients"), x.shape[1]), **observation}


def _learnt(gradients: Any, length: int) -> str:
    if not isinstance(gradients, list) or len(gradients) != 2 or not isinstance(gradients[1], torch.Tensor):
        return AS_ASKED
    never = (gradients[1][:length] == 0).all(dim=-1)
    if not never.any() or (length > 1 and not gradients[1].any()):
        return AS_ASKED
    rows = ", ".join(str(row) for row in never.nonzero().flatten().tolist())
    return (
        f"Some of the rows that you add never get a gradient, so they would never learn: {rows}. What sets them apart?"
    )


TRIAL = Trial(
    module="transformer_course.blocks",
    points=2,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"learnt": "which rows learn"},
    aspects=(
        aspects.parts(),
        aspects.shape(),
        aspects.values(),
        aspects.worded(aspects.gradients(11.0), "learnt"),  # positions that are learnt
        FULL,
        EQUAL,
        ONE,
        AGAIN,
        *aspects.any_numbers(0.5),
        aspects.modes(),
        aspects.untouched("x untouched", 2.0),
    ),
)
