"""`masked_softmax`: how it is tried."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, of_tensors
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, strided
from cellcheck.authoring.modules import with_followed_rows
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import where_answered
from transformer_course.lessons.drawing import mask, with_an_empty_row

BROADCAST = special("masks that broadcast", weight=2.0)
EMPTY = special("a row with nothing allowed", weight=6.0)
LARGE = special("large scores")
HIGH = special(
    "hidden scores far above the rest",
    meaning="Hidden scores get no weight even when they are far larger than the visible ones.",
)
ONE_KEY = special("a single key", weight=0.5, meaning="The result is right when there is only one key.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return 2 * normal(generator, *sizes, dtype=dtype)

    allow = partial(mask, generator)
    b, q, k = dims(generator, 3, 3, 6)
    batch, heads, rows, keys = dims(generator, 4, 3, 6)
    side = int(generator.integers(3, 6))
    far = drawn(b, q, k + 2, dtype=torch.float64)
    far[0] += 1000.0
    far[1:] -= 1000.0
    empty = with_an_empty_row(allow(b, q, k))
    shown = allow(b, q, k)
    high = torch.where(shown, drawn(b, q, k), drawn(b, q, k) + 1000.0)
    return [
        Case.of("with two axes", scores=drawn(q, k)),
        Case.of("with three axes", scores=drawn(b, q, k)),
        Case.of("with a mask", scores=drawn(b, q, k), mask=allow(b, q, k)),
        Case.of("where all sizes are equal", scores=drawn(side, side, side), mask=allow(side, side, side)),
        Case.of("with one mask for the batch", BROADCAST, scores=drawn(b, q, k), mask=allow(q, k)),
        Case.of("with one mask for all rows", BROADCAST, scores=drawn(b, q, k), mask=allow(k)),
        Case.of(
            "with heads and a padding mask",
            BROADCAST,
            scores=drawn(batch, heads, rows, keys),
            mask=allow(batch, 1, 1, keys),
        ),
        Case.of("with hidden scores far above the rest", HIGH, scores=high, mask=shown),
        Case.of("with one key only", ONE_KEY, scores=drawn(b, q, 1), mask=allow(b, q, 1)),
        Case.of("with a row that allows nothing", EMPTY, scores=drawn(b, q, k), mask=empty),
        Case.of("with very large scores", LARGE, scores=far, mask=allow(b, q, k + 2)),
        Case.of("with very large scores and no mask", LARGE, scores=far.clone()),
        Case.of("with float64", FLOAT64, scores=drawn(b, q, k, dtype=torch.float64), mask=allow(b, q, k)),
        Case.of(
            "with tensors that are not contiguous", LAYOUT, scores=strided(drawn(b, q, k)), mask=strided(allow(b, q, k))
        ),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    scores, allowed = inputs["scores"], inputs.get("mask")
    # Entries, not rows, are weighed here: a row that allows nothing is left open as a whole.
    rows = None if allowed is None else allowed.any(dim=-1).expand(scores.shape[:-1])
    return with_followed_rows(symbol, given(inputs, "scores", "mask"), rows, of=(0,))


TRIAL = Trial(
    module="transformer_course.attention",
    points=2,
    cases=cases,
    probe=probe,
    canonical=where_answered,
    aspects=of_tensors(BROADCAST, EMPTY, LARGE, HIGH, ONE_KEY, layout=0.5),
)
