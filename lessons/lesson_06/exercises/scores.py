"""`relative_attention_scores`: cases, mistakes and variants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from course.positions import relative_attention_scores, rotary_embedding, sinusoidal_positional_encoding
from grader.authoring.aspects import USUAL, also, gradients, shape, special, untouched, values
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_06.exercises.precision import ANY_NUMBERS, in_single_precision
from lessons.lesson_06.exercises.rotary import draw_positions, with_heads_cut_out


def _rows(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {
            "query": normal(generator, *sizes, dtype=kind),
            "key": normal(generator, *sizes, dtype=kind),
            "positions": torch.arange(sizes[-2]),
            "follow": kind == torch.float32,
        }

    def elsewhere(*sizes: int) -> dict[str, Any]:
        return {**draw(*sizes), "positions": draw_positions(generator, sizes[-2]), "follow": False}

    batch, heads, length, half = dims(generator, 4, 2, 6)
    side = 2 * int(generator.integers(2, 4))
    moved = draw(batch, length, 2 * half)
    moved["positions"] = torch.arange(length) + int(generator.integers(10, 30))
    laid_out = elsewhere(batch, heads, length, 2 * half)
    laid_out["query"], laid_out["key"] = with_heads_cut_out(laid_out["query"]), with_heads_cut_out(laid_out["key"])
    return [
        Case("with rows of vectors", draw(batch, length, 2 * half), USUAL),
        Case("with several heads", draw(batch, heads, length, 2 * half), USUAL),
        Case("where all sizes are equal", draw(side, side, side), USUAL),
        Case("with positions far from 0", moved, USUAL),
        Case("with positions in no order", elsewhere(half, length, 2 * batch), frozenset({"elsewhere"})),
        Case("with several heads and positions in no order", elsewhere(batch, 2, heads, 4), frozenset({"elsewhere"})),
        Case("on a batch of one", elsewhere(1, length, 2 * heads), frozenset({"one"})),
        Case("with a single position", elsewhere(batch, 1, 2 * half), frozenset({"one"})),
        Case("with float64", draw(batch, length, 2 * heads, kind=torch.float64), frozenset({"float64"})),
        Case("with heads that are not contiguous", laid_out, frozenset({"strided"})),
    ]


def _waves_added(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    waves = sinusoidal_positional_encoding(int(positions.max()) + 1, query.shape[-1])[positions].to(query.dtype)
    return (query + waves) @ (key + waves).mT


def _at_distances(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Each key turned by its distance to the query: one rotation instead of two."""
    rows = []
    for i in range(query.shape[-2]):
        turned = rotary_embedding(key, positions - positions[i])
        rows.append((query[..., i : i + 1, :] * turned).sum(-1))
    return torch.stack(rows, dim=-2)


def _together(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    turned = rotary_embedding(torch.stack([query, key]), positions)
    return torch.einsum("...id,...jd->...ij", turned[0], turned[1])


def _by_pairs(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The cosine and the sine of each distance, a pair of columns at a time."""
    d = query.shape[-1]
    distance = positions[:, None] - positions[None, :]
    scores = torch.zeros(*query.shape[:-1], query.shape[-2], dtype=query.dtype)
    for i in range(0, d, 2):
        angle = distance.to(query.dtype) / 10000.0 ** (i / d)
        a, b = query[..., i, None], query[..., i + 1, None]
        e, f = key[..., None, :, i], key[..., None, :, i + 1]
        scores = scores + (a * e + b * f) * angle.cos() + (a * f - b * e) * angle.sin()
    return scores


SCORES = Exercise(
    symbol="relative_attention_scores",
    points=2,
    cases=_rows,
    references=(relative_attention_scores,),
    canonical=in_single_precision,
    aspects=(
        shape(),
        values(),
        gradients(),
        special("any positions", "elsewhere", weight=4.0, meaning="Positions may come in any order."),
        also(
            "only distances count",
            "moved",
            meaning="Adding the same number to all positions leaves the scores as they were.",
        ),
        special(
            "a batch of one, a single position",
            "one",
            meaning="A batch of one and a single position give the right result too.",
        ),
        *ANY_NUMBERS,
        untouched(),
    ),
    mistakes=(
        Mistake(
            "nothing_turned",
            lambda query, key, positions: query @ key.transpose(-2, -1),
            "These are the dot products of the vectors as they came in: positions play no part. What has to "
            "happen to both before the product?",
            central=True,
        ),
        Mistake(
            "query_only",
            lambda query, key, positions: rotary_embedding(query, positions) @ key.transpose(-2, -1),
            "You rotate only the queries, so the scores depend on where the query is, not on the distance. What "
            "about the keys?",
            central=True,
        ),
        Mistake(
            "key_only",
            lambda query, key, positions: query @ rotary_embedding(key, positions).transpose(-2, -1),
            "You rotate only the keys, so the scores depend on where the key is, not on the distance. What about "
            "the queries?",
            central=True,
        ),
        Mistake(
            "turned_apart",
            lambda query, key, positions: (
                rotary_embedding(query, positions) @ rotary_embedding(key, -positions).transpose(-2, -1)
            ),
            "You rotate queries and keys in opposite directions, so the sum of the two positions counts. What has"
            " to cancel so that only the distance is left?",
        ),
        Mistake(
            "scaled",
            lambda query, key, positions: relative_attention_scores(query, key, positions) / math.sqrt(query.shape[-1]),
            "You divide by the square root of d, as attention does later. Does the docstring ask for that here?",
        ),
        Mistake(
            "softmax_taken",
            lambda query, key, positions: relative_attention_scores(query, key, positions).softmax(-1),
            "Your rows sum to 1, so there is a softmax. Does the docstring ask for scores, or for weights?",
        ),
        Mistake(
            "transposed",
            lambda query, key, positions: relative_attention_scores(key, query, positions),
            "Your rows are keys and your columns are queries. Whose vectors come first in the product?",
        ),
        Mistake(
            "positions_ignored",
            lambda query, key, positions: relative_attention_scores(query, key, torch.arange(len(positions))),
            "At positions 0, 1, 2, ... everything is right, at others it isn't. Do you pass `positions` on?",
            central=True,
        ),
        Mistake(
            "each_with_its_own_only",
            lambda query, key, positions: (rotary_embedding(query, positions) * rotary_embedding(key, positions)).sum(
                -1
            ),
            "You have the product of each query with the key at its own position, only the diagonal. How do you "
            "compare every query with every key?",
        ),
        Mistake(
            "waves_added",
            _waves_added,
            "You add the waves to queries and keys, as the sinusoidal encoding does. Which of your functions "
            "rotates a vector instead?",
        ),
        Mistake(
            "float32_returned",
            lambda query, key, positions: relative_attention_scores(query.float(), key.float(), positions),
            "Given float64 vectors, you return float32. Which line fixes a dtype?",
        ),
        Mistake(
            "graph_cut",
            lambda query, key, positions: relative_attention_scores(query, key.detach(), positions),
            "The numbers are right, but no gradient flows back to the keys. Where is the graph cut?",
        ),
        Mistake(
            "query_changed",
            lambda query, key, positions: (
                query.data.copy_(rotary_embedding(query, positions)) @ rotary_embedding(key, positions).mT
            ),
            "The caller's query was rotated in place. How do you make a new tensor?",
        ),
    ),
    variants={
        "by distances": _at_distances,
        "both at once": _together,
        "pair by pair": _by_pairs,
        "matmul and mT": lambda query, key, positions: torch.matmul(
            rotary_embedding(query, positions), rotary_embedding(key, positions).mT
        ),
        "everything moved by three": lambda query, key, positions: (
            rotary_embedding(query, positions + 3) @ rotary_embedding(key, positions + 3).transpose(-1, -2)
        ),
    },
)
