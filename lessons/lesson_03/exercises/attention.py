"""`scaled_dot_product_attention`: cases, mistakes and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.attention import scaled_dot_product_attention
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs, mask, padding, with_an_empty_row


def _triples(generator: np.random.Generator) -> list[Case]:
    def draw(*leading: int, q: int, k: int, d: int, v: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "query": normal(generator, *leading, q, d, dtype=kind),
            "key": normal(generator, *leading, k, d, dtype=kind),
            "value": normal(generator, *leading, k, v, dtype=kind),
        }

    allow = partial(mask, generator)
    b, q, k, d, v = dims(generator, 5, 3, 8)
    batch, heads, rows, keys, d_head = dims(generator, 5, 3, 7)
    side = int(generator.integers(3, 5))
    large = draw(b, q=q, k=k, d=d, v=v, kind=torch.float64)
    large["mask"] = allow(b, q, k)
    large["query"][..., 0] += 30.0  # and with each key the same large number comes into the scores of a row
    large["key"][..., 0] = 30.0 * d**0.5
    laid_out = {name: strided(tensor) for name, tensor in draw(b, q=q, k=k, d=d, v=v).items()}

    def four() -> Inputs:
        return draw(batch, heads, q=rows, k=keys, d=d_head, v=d_head)

    return [
        Case("with five different sizes", draw(b, q=q, k=k, d=d, v=v), USUAL),
        Case("with a mask", {**draw(b, q=q, k=k, d=d, v=v), "mask": allow(b, q, k)}, USUAL),
        Case("with heads and a mask", {**four(), "mask": allow(batch, heads, rows, keys)}, USUAL),
        Case("where all sizes are equal", draw(side, q=side, k=side, d=side, v=side), USUAL),
        Case("with one mask for the batch", {**draw(b, q=q, k=k, d=d, v=v), "mask": allow(q, k)}, tagged("broadcast")),
        Case(
            "with heads and a padding mask",
            {**four(), "mask": padding(generator, batch, keys)},
            tagged("broadcast"),
        ),
        Case(
            "with heads that share a mask",
            {**four(), "mask": allow(batch, 1, rows, keys)},
            tagged("broadcast"),
        ),
        Case("on a batch of one, with one query", draw(1, q=1, k=k, d=d, v=v), tagged("thin")),
        Case("with one key, and vectors of length one", draw(b, q=q, k=1, d=1, v=v), tagged("thin")),
        Case("without a batch", draw(q=q, k=k, d=d, v=v), tagged("thin")),
        Case(
            "with a row that allows nothing",
            {**draw(b, q=q, k=k, d=d, v=v), "mask": with_an_empty_row(allow(b, q, k))},
            tagged("empty"),
        ),
        Case("with very large scores", large, tagged("large")),
        Case("with float64", draw(b, q=q, k=k, d=d, v=v, kind=torch.float64), tagged("float64")),
        Case("with tensors that are not contiguous", laid_out, tagged("strided")),
    ]


Mask = torch.Tensor | None
Pair = tuple[torch.Tensor, torch.Tensor]


def _weights(scores: torch.Tensor, mask: Mask) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, float(torch.finfo(scores.dtype).min))
    return torch.softmax(scores, dim=-1)


def _scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query @ key.mT / math.sqrt(query.shape[-1])


def _scored(score: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., Pair]:
    """Attention with other scores, of query and key."""

    def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
        weights = _weights(score(query, key), mask)
        return weights @ value, weights

    return attention


def _weighed(weigh: Callable[[torch.Tensor, Mask], torch.Tensor]) -> Callable[..., Pair]:
    """Attention with other weights, of scores and mask."""

    def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
        weights = weigh(_scores(query, key), mask)
        return weights @ value, weights

    return attention


def _returned(result: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]) -> Callable[..., Any]:
    """Attention that returns something else of scores, weights and values."""

    def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Any:
        scores = _scores(query, key)
        return result(scores, _weights(scores, mask), value)

    return attention


def _scaled_after(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    weights = _weights(query @ key.mT, mask) / math.sqrt(query.shape[-1])
    return weights @ value, weights


def _reversed(key: torch.Tensor) -> torch.Tensor:
    """`key.T`, without its warning: the axes in reverse order."""
    return key.permute(*reversed(range(key.dim())))


def _scaled_in_place(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    query.data /= math.sqrt(query.shape[-1])
    weights = _weights(query @ key.mT, mask)
    return weights @ value, weights


def _for_three_axes(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    weights = _weights(query @ key.transpose(1, 2) / math.sqrt(query.shape[-1]), mask)
    return weights @ value, weights


def _by_einsum(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.size(-1) ** -0.5
    weights = _weights(scores, mask)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights


def _by_library(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    """PyTorch's own attention for the output; a row of nothing gets the mean there too."""
    weights = _weights(_scores(query, key), mask)
    if mask is not None:
        mask = mask | ~mask.any(-1, keepdim=True)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights


def _scaled_first(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    root = query.shape[-1] ** 0.25
    scores = torch.matmul(query / root, (key / root).transpose(-1, -2))
    if mask is not None:
        scores = torch.where(mask, scores, -1e9)
    weights = F.softmax(scores, -1)
    return torch.matmul(weights, value), weights


def _query_by_query(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Mask = None) -> Pair:
    scores = torch.stack([(q[..., None, :] * key).sum(-1) for q in query.unbind(-2)], dim=-2)
    weights = _weights(scores / math.sqrt(key.shape[-1]), mask)
    return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


def _renormalised(scores: torch.Tensor, mask: Mask) -> torch.Tensor:
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)
    return weights


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    symbol="scaled_dot_product_attention",
    points=3,
    cases=_triples,
    references=(scaled_dot_product_attention,),
    canonical=where_answered,
    aspects=(
        shape(),
        values(),
        attention_weights(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special(
            "axes of length one, and none",
            "thin",
            meaning="The result is also right with axes of length one, and without a batch axis.",
        ),
        special("a row with nothing allowed", "empty"),
        special("large scores", "large"),
        *any_numbers(0.5),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "not_scaled",
            _scored(lambda q, k: q @ k.mT),
            "Your scores are the plain dot products, so the weights are too sharp. What should they be divided by?",
            central=True,
        ),
        Mistake(
            "divided_by_d",
            _scored(lambda q, k: q @ k.mT / q.shape[-1]),
            "You divide by d, so the weights are too even. What should you take of d first?",
        ),
        Mistake(
            "multiplied_by_the_root",
            _scored(lambda q, k: q @ k.mT * q.shape[-1] ** 0.5),
            "You multiply the scores by the square root of d. Should they grow or shrink?",
        ),
        Mistake(
            "root_of_the_query_length",
            _scored(lambda q, k: q @ k.mT / q.shape[-2] ** 0.5),
            "You divide by the root of the number of queries. Which axis of the query holds d?",
        ),
        Mistake(
            "root_of_axis_one",
            _scored(lambda q, k: q @ k.mT / q.shape[1] ** 0.5),
            "You divide by the root of query.shape[1]. With a batch in front, that is the number of queries or of "
            "heads. "
            "On which axis, counted from the end, is the size of one query?",
        ),
        Mistake(
            "all_axes_reversed",
            _scored(lambda q, k: q @ _reversed(k) / q.shape[-1] ** 0.5),
            "key.T reverses all axes, the batch included, so it is right only without a batch. Which two axes should "
            "change places?",
        ),
        Mistake(
            "root_of_the_key_length",
            _scored(lambda q, k: q @ k.mT / k.shape[-2] ** 0.5),
            "You divide by the root of the number of keys. Which axis of the key holds d?",
        ),
        Mistake(
            "scaled_after_the_softmax",
            _scaled_after,
            "You divide by the root of d after the softmax, so your weights don't sum to 1. Should the scores be "
            "scaled, "
            "or the weights?",
        ),
        Mistake(
            "missing_transpose",
            _scored(lambda q, k: q @ k / q.shape[-1] ** 0.5),
            "You multiply rows of the query by columns of the key. A dot product needs a row and a row: which two "
            "axes of "
            "the key should you swap?",
        ),
        Mistake(
            "reshaped_instead_of_transposed",
            _scored(lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / q.shape[-1] ** 0.5),
            "You reshaped the key, and that only cuts the same numbers into new rows. What turns rows into columns?",
        ),
        Mistake(
            "transposed_for_three_axes",
            _for_three_axes,
            "With a batch it is right; with heads, or without a batch, other axes are swapped. How do you name the "
            "last two axes, however many there are?",
        ),
        Mistake(
            "softmax_over_the_queries",
            _weighed(lambda s, m: torch.softmax(s if m is None else s.masked_fill(~m, -1e9), dim=-2)),
            "Your columns sum to 1, not your rows. Over which axis should each query share out its attention?",
            central=True,
        ),
        Mistake(
            "softmax_forgotten",
            _weighed(lambda s, m: s if m is None else s * m),
            "Your weights are the scores themselves: some are negative, and no row sums to 1. What turns scores into "
            "shares?",
        ),
        Mistake(
            "mask_ignored",
            _weighed(lambda s, m: s.softmax(-1)),
            "The mask changes nothing. Which step needs it?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            _weighed(lambda s, m: _weights(s, None if m is None else ~m)),
            "The hidden keys are looked at, and the others are not. True means: may attend. Is there a ~ too many, or "
            "one too few?",
            central=True,
        ),
        Mistake(
            "masked_after_softmax",
            _weighed(lambda s, m: s.softmax(-1) if m is None else s.softmax(-1) * m),
            "Hidden weights are 0, but the rows no longer sum to 1. Which function of yours hides first and shares out "
            "afterwards?",
        ),
        Mistake(
            "filled_with_minus_infinity",
            _weighed(lambda s, m: torch.softmax(s if m is None else s.masked_fill(~m, float("-inf")), -1)),
            "A query that may look at nothing gets NaN. Which function of yours has an answer for such a row?",
        ),
        Mistake(
            "mask_on_the_scores_by_product",
            _weighed(lambda s, m: torch.softmax(s if m is None else s * m, -1)),
            "Hidden scores become 0, and a score of 0 still gets a weight. Which function of yours hides them for "
            "good?",
        ),
        Mistake(
            "output_forgotten",
            _returned(lambda scores, weights, value: weights),
            "You return the weights alone. What should they be multiplied by?",
        ),
        Mistake(
            "weights_forgotten",
            _returned(lambda scores, weights, value: weights @ value),
            "The output is right, but it comes alone. What is the second thing that the docstring asks for?",
        ),
        Mistake(
            "scores_returned",
            _returned(lambda scores, weights, value: (weights @ value, scores)),
            "The output is right, but you return the scores with it. Which numbers say how much of each value was "
            "taken?",
        ),
        Mistake(
            "pair_swapped",
            _returned(lambda scores, weights, value: (weights, weights @ value)),
            "Both results are there, in the wrong order. Which one comes first?",
        ),
        Mistake(
            "weights_meet_keys",
            lambda query, key, value, mask=None: (lambda w: (w @ key, w))(_weights(_scores(query, key), mask)),
            "You take the mean of the keys. Which of the three tensors holds what is handed over?",
        ),
        Mistake(
            "graph_cut",
            _weighed(lambda s, m: _weights(s, m).detach()),
            "The numbers are right, but no gradient reaches query and key. Where do the weights leave the graph?",
        ),
        Mistake(
            "scaled_in_place",
            _scaled_in_place,
            "The result is right, but the caller's query is smaller now. What does /= do to a tensor that somebody "
            "else holds?",
        ),
        Mistake(
            "scores_cosine",
            _scored(lambda q, k: F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT),
            "Your scores are cosines of angles. Does a dot product forget how long the vectors are?",
        ),
    ),
    variants={
        "softmax of filled scores": _scored(_scores),
        "einsum": _by_einsum,
        "the library's attention": _by_library,
        "query and key scaled before": _scaled_first,
        "query by query": _query_by_query,
        "renormalised": _weighed(_renormalised),
        "swapdims": _scored(lambda q, k: q.matmul(k.swapdims(-1, -2)).div(math.sqrt(q.size(-1)))),
        "keys first": _scored(lambda q, k: (k @ q.mT).mT / math.sqrt(k.shape[-1])),
        "a list": _returned(lambda scores, weights, value: [weights @ value, weights]),
    },
)
