"""What an attention layer does otherwise than asked, in words: found by doing the same in every likely way.

The weights that come back tell how the scores were made; given these weights, the result tells what was mixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn.functional import linear

from cellcheck.authoring import Case, Observation, aspects
from transformer_course.lessons.watching import AS_ASKED
from transformer_course.lessons.ways import way_taken

MASK = "what_is_hidden"
CALLED = {
    "heads_cut": "how the heads are cut",
    "scores_divided": "what the scores are divided by",
    MASK: "what is hidden",
    "what_is_mixed": "what the weights mix",
    "heads_mixed": "what comes after the heads",
}
SPOKEN = tuple(aspects.spoken(words, name) for name, words in CALLED.items())
"""One for each: of two slips, each may be told."""

Split = Callable[[torch.Tensor, int], torch.Tensor]


def _blocks(x: torch.Tensor, heads: int) -> torch.Tensor:
    return x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2)


def _interleaved(x: torch.Tensor, heads: int) -> torch.Tensor:
    return x.reshape(*x.shape[:-1], -1, heads).permute(0, 3, 1, 2)


CUTS: dict[str, Split] = {
    AS_ASKED: _blocks,
    "Your head h takes every n-th column, beginning with column h. Which columns does the docstring of "
    "MultiHeadAttention give it?": _interleaved,
}
DIVISORS: dict[str, Callable[[int, int], float]] = {
    AS_ASKED: lambda d_model, heads: math.sqrt(d_model // heads),
    "Your scores are plain dot products, divided by nothing. What keeps them from growing with the width?": (
        lambda d_model, heads: 1.0
    ),
    "Your scores are divided by the root of d_model. How long are the vectors that one head compares?": (
        lambda d_model, heads: math.sqrt(d_model)
    ),
    "Your scores are divided by d, not by its root. Which of them does attention divide by?": (
        lambda d_model, heads: d_model / heads
    ),
}
HIDING: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    AS_ASKED: lambda mask: mask,
    "Your weights give something to places that the mask hides: they are the same without it. Where is the mask "
    "used?": torch.ones_like,
    "Your weights are 0 where the mask says True. What does True mean in a mask of this course?": torch.logical_not,
}
MIXED = {
    AS_ASKED: "value",
    "Your weights mix the encoder's states as they are. Which layer makes values of them?": "states",
    "Your weights mix the keys. Which layer makes values?": "key",
}
AFTER = {
    AS_ASKED: True,
    "You put the heads side by side, and that is your result. Which layer comes after them?": False,
}


def in_words(observation: Observation, case: Case) -> Observation:
    """The observation, with what can be said under each of the names of `CALLED`."""
    sentences = dict.fromkeys(CALLED, AS_ASKED)
    output, weights = observation.get("output"), observation.get("weights")
    if isinstance(output, torch.Tensor) and isinstance(weights, torch.Tensor):
        sentences |= _found(output.detach(), weights.detach(), case.inputs)
    return {**sentences, **observation}


def _found(output: torch.Tensor, weights: torch.Tensor, inputs: Mapping[str, Any]) -> dict[str, str]:
    asking, source, heads, mask = (inputs.get(n) for n in ("decoder_states", "encoder_states", "num_heads", "mask"))
    assert asking is not None
    assert source is not None
    assert heads is not None
    layers = inputs["weights"]
    if output.dtype != asking.dtype or weights.dtype != asking.dtype or 1 in (heads, asking.shape[-1] // heads):
        return {}
    query, key, value = (
        linear(x, layers[f"{name}.weight"], layers[f"{name}.bias"])
        for name, x in (("query", asking), ("key", source), ("value", source))
    )
    sentences = _of_weights(weights, query, key, heads, mask)
    if sentences is None:
        return {}
    cut = CUTS[sentences["heads_cut"]]
    vectors = {"value": value, "states": source, "key": key}

    def fits(mixed: str, has_output: bool) -> bool:
        parts = weights @ cut(vectors[mixed], heads)  # (batch, heads, target_length, d_head)
        joined = parts.transpose(1, 2).flatten(2), parts.permute(0, 2, 3, 1).flatten(2)
        last = (linear(one, layers["output.weight"], layers["output.bias"]) if has_output else one for one in joined)
        return any(_alike(output, one) for one in last)

    way = way_taken((MIXED, AFTER), fits)
    return sentences | dict(zip(("what_is_mixed", "heads_mixed"), way, strict=True)) if way else sentences


def _of_weights(
    weights: torch.Tensor, query: torch.Tensor, key: torch.Tensor, heads: int, mask: torch.Tensor | None
) -> dict[str, str] | None:
    """How the weights were made; None where they can't be explained."""
    hiding = HIDING if mask is not None else {AS_ASKED: torch.ones_like}
    allowed = torch.ones(1, dtype=torch.bool) if mask is None else mask

    def fits(split: Split, divisor: Any, hide: Any) -> bool:
        scores = split(query, heads) @ split(key, heads).mT / divisor(query.shape[-1], heads)
        return _alike(weights, scores.masked_fill(~hide(allowed), torch.finfo(scores.dtype).min).softmax(-1))

    way = way_taken((CUTS, DIVISORS, hiding), fits)
    return dict(zip(("heads_cut", "scores_divided", MASK), way, strict=True)) if way else None


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-4, atol=1e-5)
