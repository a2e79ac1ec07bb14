"""`MultiHeadAttention`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import refused, special
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import (
    CALLED,
    FLOAT32,
    ONE_POSITION,
    Inputs,
    attention,
    back,
    normal,
    of_layer,
    of_some_cases,
    there_and_back,
    without_rounding,
)

D, HEADS = 6, 2
MASKED = of_some_cases("masks", 3.0, "What the mask hides gets no weight, and the other weights add up to 1.")
MASKED_BACK = back(MASKED, meaning="With a mask, too, backward gives the right gradients.")
EMPTY = of_some_cases("a row with nothing allowed", meaning="A query without any allowed key gives finite numbers.")
EMPTY_BACK = special(
    f"{EMPTY.name} on the way back",
    weight=1.0,
    meaning="Where forward has overwritten all scores of a query, backward sends nothing through them.",
    keys=("input_gradient", "weight_gradients", "own_slopes"),
)
REFUSED = refused("heads that don't divide d_model", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    batch, m, n = (int(size) for size in generator.choice([2, 3, 4, 5], 3, replace=False))

    def draw(
        b: int, m: int, n: int, mask: np.ndarray | None = None, kind: Any = np.float64, heads: int = HEADS
    ) -> Inputs:
        def three(longer: int = 0) -> list[Any]:
            """The second time, with longer rows and without a mask."""
            queries, keys, values = (normal(generator, b, length + longer, D, dtype=kind) for length in (m, n, n))
            return [queries, keys, values, *([] if mask is None or longer else [mask])]

        return {
            "sizes": [D, heads],
            "weights": attention(generator, "", D, kind),
            "arguments": three(),
            "gradient": normal(generator, b, m, D, dtype=kind),
            "other_arguments": three(1),
            "other_gradient": normal(generator, b, m + 1, D, dtype=kind),
            "any_beginning": True,
        }

    padding = (np.arange(n) < np.array([max(1, n - 1), n] * batch)[:batch, None])[:, None, None, :]
    padding[0, ..., 0], padding[0, ..., -1] = True, False
    causal = np.tri(m, dtype=bool)
    far_below = draw(batch, m, n, padding)  # all scores lie near -250: nothing that is hidden may win beside them
    far_below["weights"]["query.bias"] = np.full(D, 12.0)
    far_below["weights"]["key.bias"] = np.full(D, -12.0)
    empty = np.ones((batch, 1, m, n), dtype=bool)
    empty[-1, :, 0] = False
    lost = draw(batch, m, n, empty)
    lost["gradient"][-1, 0] = 0.0  # what comes out there is open: the probe looks at its own slopes
    return there_and_back(
        Case.of("on queries and keys of different lengths", **draw(batch, m, n)),
        Case.of("with three heads", **draw(batch, m, n, heads=3)),
        Case.of("with a causal mask", MASKED, **draw(batch, m, m, causal)),
        Case.of("with hidden padding", MASKED, **draw(batch, m, n, padding)),
        Case.of("with hidden padding, where all scores are far below 0", MASKED, **far_below),
        Case.of("where a query has no allowed key", EMPTY, **lost, lost=True),
        Case.of("on a batch of one, a single position", ONE_POSITION, **draw(1, 1, 1)),
        Case.of("with float32", FLOAT32, **draw(batch, m, n, kind=np.float32)),
        Case.of("with heads that don't divide d_model", REFUSED, sizes=[D, 4], weights={}, arguments=[], gradient=None),
        special=(MASKED, EMPTY),
    )


def open_rows_aside(observation: Observation, case: Case) -> Observation:
    """What comes out where nothing may be attended to is open, as long as it is finite."""
    observation = without_rounding(observation)
    pair = observation.get("output")
    if "error" in observation or not isinstance(pair, list | tuple) or len(pair) != 2:
        return observation
    if case.tags == MASKED.tags and (words := _shared_out(pair[1], case.inputs["arguments"][3])):
        return {**observation, "output": (pair[0], words) if isinstance(pair, tuple) else [pair[0], words]}
    if not case.inputs.get("lost"):
        return observation
    closed = []
    for each, place in zip(pair, ((-1, 0), (-1, slice(None), 0)), strict=True):
        if isinstance(each, np.ndarray) and each.ndim in (3, 4):
            each = each.copy()
            if np.isfinite(each[place]).all():
                each[place] = 0.0
        closed.append(each)
    return {**observation, "output": closed}


def _shared_out(weights: Any, mask: np.ndarray) -> str:
    """What a mask does to the weights, in words, where hidden keys get any; each query has a key that it may read."""
    try:
        allowed = np.broadcast_to(mask, np.shape(weights))
    except ValueError:
        return ""
    if not isinstance(weights, np.ndarray) or weights.dtype.kind != "f" or not np.isfinite(weights).all():
        return ""
    if np.abs(weights[~allowed]).max() < 1e-6:
        return ""
    if np.abs(np.where(allowed.all(axis=-1, keepdims=True), 0.0, weights)[allowed]).max() < 1e-6:
        return (
            "Where a mask hides some keys, these share all of the attention, and the allowed ones get none. What does "
            "True mean in this mask?"
        )
    return (
        f"A key that the mask hides gets a weight of {np.abs(weights[~allowed]).max():.2g}. How low does a hidden "
        "score have to be when it meets the others in the softmax?"
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.attention",
    points=4,
    cases=cases,
    canonical=open_rows_aside,
    called=CALLED,
    aspects=of_layer(MASKED, MASKED_BACK, EMPTY, EMPTY_BACK, ONE_POSITION, FLOAT32, REFUSED, gradients=10.0),
)
