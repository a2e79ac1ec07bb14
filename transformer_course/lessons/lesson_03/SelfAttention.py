"""`SelfAttention`: how it is tried. The probe hands the weights in by name."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import answered_rows, built, followed
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls
from transformer_course.lessons.lesson_03.made_from import changed_places
from transformer_course.lessons.watching import AS_ASKED

BROADCAST = special("masks that broadcast")
ONE = special("a batch of one, a single token")
EMPTY = special("a row with nothing allowed", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(batch: int, length: int, d_model: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "x": normal(generator, batch, length, d_model, dtype=dtype),
            "weights": drawing.attention(generator, "", d_model, dtype, ("query", "key", "value")),
        }

    allow = partial(drawing.mask, generator)
    b, n, d = dims(generator, 3, 3, 6)
    side = int(generator.integers(3, 6))
    laid_out = with_gaps(layer(b, n, d))
    before = [(layer(b, n - 1, d)["x"],), (layer(1, n + 1, d)["x"],)]

    def again(label: str, mask: torch.Tensor | None) -> Case:
        """A call whose x and mask differ from those before."""
        inputs = layer(b, n, d)
        before = [(layer(b, n, d)["x"], allow(b, n, n) if mask is None else ~mask | torch.eye(n, dtype=torch.bool))]
        return Case.of(label, AGAIN, **inputs, **({} if mask is None else {"mask": mask}), before=before)

    return [
        Case.of("with three different sizes", **layer(b, n, d)),
        Case.of("with a mask", **layer(b, n, d), mask=allow(b, n, n)),
        Case.of("where all sizes are equal", **layer(side, side, side), mask=allow(side, side, side)),
        Case.of("with one mask for the batch", BROADCAST, **layer(b, n, d), mask=allow(n, n)),
        Case.of("with a row of keys hidden", BROADCAST, **layer(b, n, d), mask=allow(b, 1, n)),
        Case.of("on a batch of one", ONE, **layer(1, n, d)),
        Case.of("with a single token", ONE, **layer(b, 1, d)),
        Case.of(
            "with a row that allows nothing", EMPTY, **layer(b, n, d), mask=drawing.with_an_empty_row(allow(b, n, n))
        ),
        again("with no mask, after a call with one", None),
        again("with another mask, after a call with one", allow(b, n, n)),
        Case.of("after calls on other sizes", AGAIN, **layer(b, n, d), before=before),
        Case.of("with float64", aspects.FLOAT64, **layer(b, n, d, torch.float64), mask=allow(b, n, n)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    module = after_other_calls(built(symbol, x.shape[-1]), inputs)
    return followed(module, inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)


def in_words(observation: Observation, case: Case) -> Observation:
    """The result where a mask fixes it, and who is never looked at although nothing hides them."""
    observation = where_answered(observation, case)
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    x, mask = case.inputs["x"], case.inputs.get("mask")
    looked_at = _looked_at(observation.get("weights"), x, mask)
    makers = AS_ASKED if mask is not None else changed_places(observation, {"x": x}, case.inputs["weights"])
    return {"looked_at": looked_at, "made": makers, **observation}


def _looked_at(weights: Any, x: torch.Tensor, mask: torch.Tensor | None) -> str:
    pairs = (*x.shape[:2], x.shape[1])
    if not isinstance(weights, torch.Tensor) or weights.shape != pairs:
        return AS_ASKED
    shown = torch.ones(pairs, dtype=torch.bool) if mask is None else mask.expand(pairs)
    unseen = shown & (weights == 0)
    for who, others in {
        "at a token that comes after it": torch.ones_like(shown).triu(1),
        "at a token that comes before it": torch.ones_like(shown).tril(-1),
        "at itself": torch.eye(pairs[1], dtype=torch.bool).expand(pairs),
    }.items():
        if bool(unseen.any()) and torch.equal(unseen, shown & others):
            return f"No token looks {who}, though nothing hides it. Which tokens should a token look at?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.attention",
    points=2,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"looked_at": "which tokens are looked at", "made": "what makes the three"},
    aspects=aspects.with_words(
        aspects.with_words(
            aspects.of_module(BROADCAST, AGAIN, ONE, EMPTY, returned=[attention_weights()]), "looked_at"
        ),
        "made",
    ),
)
