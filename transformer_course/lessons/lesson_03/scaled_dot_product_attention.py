"""`scaled_dot_product_attention`: how it is tried."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import with_followed_rows
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs, mask, padding, with_an_empty_row
from transformer_course.lessons.watching import AS_ASKED

BROADCAST = special("masks that broadcast", weight=2.0)
THIN = special(
    "axes of length one, and none",
    meaning="The result is also right with axes of length one, and without a batch axis.",
)
EMPTY = special("a row with nothing allowed")
LARGE = special("large scores")


def cases(generator: np.random.Generator) -> list[Case]:
    allow = partial(mask, generator)
    # Many keys, and few: what holds only for short rows shows, and so does what holds only for long ones.
    *others, k = sorted(dims(generator, 5, 3, 8))
    b, q, d, v = generator.permutation(others).tolist()
    keys, *others = sorted(dims(generator, 5, 3, 7))
    batch, heads, rows, d_head = generator.permutation(others).tolist()
    side = int(generator.integers(3, 5))

    def drawn(
        *leading: int, q: int = q, k: int = k, d: int = d, v: int = v, dtype: torch.dtype = torch.float32
    ) -> Inputs:
        shapes = {"query": (q, d), "key": (k, d), "value": (k, v)}
        return {name: normal(generator, *leading, *shape, dtype=dtype) for name, shape in shapes.items()}

    def in_heads() -> Inputs:
        return drawn(batch, heads, q=rows, k=keys, d=d_head, v=d_head)

    large = drawn(b, dtype=torch.float64)
    large["mask"] = allow(b, q, k)
    large["query"][..., 0] += 30.0  # and with each key the same large number comes into the scores of a row
    large["key"][..., 0] = 30.0 * d**0.5
    laid_out = with_gaps(drawn(b))
    return [
        Case.of("with five different sizes", **drawn(b)),
        Case.of("with a mask", **drawn(b), mask=allow(b, q, k)),
        Case.of("with heads and a mask", **in_heads(), mask=allow(batch, heads, rows, keys)),
        Case.of("where all sizes are equal", **drawn(side, q=side, k=side, d=side, v=side)),
        Case.of("with one mask for the batch", BROADCAST, **drawn(b), mask=allow(q, k)),
        Case.of("with heads and a padding mask", BROADCAST, **in_heads(), mask=padding(generator, batch, keys)),
        Case.of("with heads that share a mask", BROADCAST, **in_heads(), mask=allow(batch, 1, rows, keys)),
        Case.of("on a batch of one, with one query", THIN, **drawn(1, q=1)),
        Case.of("with one key, and vectors of length one", THIN, **drawn(b, k=1, d=1)),
        Case.of("without a batch", THIN, **drawn()),
        Case.of("with a row that allows nothing", EMPTY, **drawn(b), mask=with_an_empty_row(allow(b, q, k))),
        Case.of("with very large scores", LARGE, **large),
        Case.of("with float64", aspects.FLOAT64, **drawn(b, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    query, allowed = inputs["query"], inputs.get("mask")
    rows = None if allowed is None else allowed.any(dim=-1).expand(query.shape[:-1])
    return with_followed_rows(symbol, given(inputs, "query", "key", "value", "mask"), rows, of=(0, 1, 2), pair=True)


def in_words(observation: Observation, case: Case) -> Observation:
    """The result where a mask fixes it, and whether the weights beside it have never met the mask."""
    observation = where_answered(observation, case)
    if "output" not in observation:
        return observation
    return {"returned": _returned(observation.get("weights"), observation["output"], case.inputs), **observation}


def _returned(weights: Any, output: Any, inputs: Mapping[str, Any]) -> str:
    query, key, value = given(inputs, "query", "key", "value")
    allowed = inputs.get("mask")
    if allowed is None or not isinstance(weights, torch.Tensor) or not isinstance(output, torch.Tensor):
        return AS_ASKED
    query, key, value, weights, output = (each.double() for each in (query, key, value, weights, output))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    shown = torch.where(allowed, scores, torch.finfo(scores.dtype).min).softmax(-1)
    rows = allowed.expand(scores.shape).any(-1)
    hiding = output.shape == (shown @ value).shape and torch.allclose(output[rows], (shown @ value)[rows], atol=1e-4)
    plain = scores.softmax(-1)
    if not hiding or weights.shape != plain.shape or torch.allclose(weights[rows], shown[rows], atol=1e-5):
        return AS_ASKED
    if torch.allclose(weights[rows], plain[rows], atol=1e-5):
        return "The output is right, and the weights beside it give hidden keys a share. Which weights made the output?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.attention",
    points=3,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"returned": "which weights are returned"},
    aspects=aspects.with_words(
        aspects.of_tensors(BROADCAST, THIN, EMPTY, LARGE, returned=[attention_weights()], layout=0.5),
        "returned",
        attention_weights().name,
    ),
)
