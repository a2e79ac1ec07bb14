"""How scores were made, in words: found by making them in every likely way, the closest to what was asked for first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring import Case, Observation, aspects
from transformer_course.lessons.watching import AS_ASKED
from transformer_course.lessons.ways import way_taken
from transformer_course.positions import rotary_embedding, sinusoidal_positional_encoding

CALLED = {
    "rotated": "what is rotated",
    "divided": "what the scores are divided by",
    "rows": "what a row belongs to",
    "weights": "what comes after the products",
}
SPOKEN = tuple(aspects.spoken(words, name) for name, words in CALLED.items())
"""One for each: of two slips, each may be told."""

Vectors = torch.Tensor


def _waves(x: Vectors, positions: torch.Tensor) -> Vectors:
    table = sinusoidal_positional_encoding(int(positions.max()) + 1, x.shape[-1])
    return x + table[positions].to(x.dtype)


ROTATED: dict[str, Callable[[Vectors, Vectors, torch.Tensor], tuple[Vectors, Vectors]]] = {
    AS_ASKED: lambda q, k, p: (rotary_embedding(q, p), rotary_embedding(k, p)),
    "Your scores are those of rotated queries and keys that aren't rotated. Which of the two does a rotation "
    "belong to?": lambda q, k, p: (rotary_embedding(q, p), k),
    "Your scores are those of rotated keys and queries that aren't rotated. Which of the two does a rotation "
    "belong to?": lambda q, k, p: (q, rotary_embedding(k, p)),
    "Your scores are those of the vectors as they came in. What should happen to them first?": lambda q, k, p: (q, k),
    "Waves have been added to your queries and keys. What does the docstring do with them instead?": lambda q, k, p: (
        _waves(q, p),
        _waves(k, p),
    ),
}
DIVISORS: dict[str, Callable[[int], float]] = {
    AS_ASKED: lambda d: 1.0,
    "Your scores are divided by the root of d. Does the docstring ask for plain products, or for that?": math.sqrt,
    "Your scores are divided by d. Does the docstring ask for plain products, or for that?": float,
}
ROWS: dict[str, Callable[[Vectors], Vectors]] = {
    AS_ASKED: lambda scores: scores,
    "Your rows belong to keys, and your columns to queries. Which of the two has a row?": lambda scores: scores.mT,
}
WEIGHTS: dict[str, Callable[[Vectors], Vectors]] = {
    AS_ASKED: lambda scores: scores,
    "Your rows sum to 1: a softmax has been taken. Does the docstring ask for scores, or for weights?": (
        lambda scores: scores.softmax(dim=-1)
    ),
}


def in_words(observation: Observation, case: Case) -> Observation:
    """In the usual cases: the observation, with what can be said under each of the names of `CALLED`."""
    if not case.tags >= aspects.USUAL:
        return observation
    query, key, positions = (case.inputs[name] for name in ("query", "key", "positions"))
    return {**_found(observation.get("output"), query, key, positions), **observation}


def _found(output: Any, query: Vectors, key: Vectors, positions: torch.Tensor) -> dict[str, str]:
    way = None
    if isinstance(output, torch.Tensor) and output.is_floating_point():
        got = output.detach().to(query.dtype)

        def fits(rotate: Any, divisor: Any, in_rows: Any, made_weights: Any) -> bool:
            turned_query, turned_key = rotate(query, key, positions)
            likely = made_weights(in_rows(turned_query @ turned_key.mT / divisor(query.shape[-1])))
            return likely.shape == got.shape and torch.allclose(likely, got, rtol=1e-3, atol=1e-3)

        way = way_taken((ROTATED, DIVISORS, ROWS, WEIGHTS), fits)
    return dict(zip(CALLED, way or [AS_ASKED] * len(CALLED), strict=True))
