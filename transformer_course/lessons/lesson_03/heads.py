"""What matters about both ways between vectors and heads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from cellcheck.authoring import Case, Observation, aspects
from transformer_course.lessons.watching import AS_ASKED

FROM = "from"
CALLED = {FROM: "where numbers come from"}
WHOLE = aspects.special("whole numbers", weight=0.5, meaning="Tensors of integers work as well as tensors of floats.")
ASPECTS = (
    aspects.shape(),
    aspects.worded(aspects.values(), FROM),
    aspects.gradients(1.0),
    aspects.LENGTH_ONE,
    WHOLE,
    aspects.dtype(),
    replace(aspects.FLOAT64, weight=0.5),
    aspects.LAYOUT,
    aspects.untouched(weight=0.5),
)


def in_words(observation: Observation, case: Case) -> Observation:
    """The result, whose numbers are those of x in other places, and from where else than asked they come."""
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    return {FROM: _origin(observation["output"], **case.inputs), **observation}


def _origin(output: Any, x: torch.Tensor, num_heads: int = 0) -> str:
    """Of an entry that isn't what it should be, where it stands in x. `num_heads` is given where x is to be split."""
    if not isinstance(output, torch.Tensor) or output.dtype != x.dtype:
        return AS_ASKED
    same = output.detach().reshape(-1, 1) == x.reshape(1, -1)
    if not bool((same.sum(dim=1) == 1).all()):
        return AS_ASKED  # sums, say, or zeros
    places = same.int().argmax(dim=1).reshape(output.shape)
    numbers = torch.arange(x.numel()).reshape(x.shape)
    right = _split(numbers, num_heads) if num_heads else numbers.transpose(1, 2).flatten(start_dim=2)
    if not num_heads:
        lost = [head for head in range(x.shape[1]) if not bool(torch.isin(numbers[:, head], places).any())]
        if lost:
            heads = " and ".join(map(str, lost))
            return f"Counted from 0, nothing of head {heads} is in your result. Which heads belong in it?"
        batch, count, length, d_head = x.shape
        if places.shape == (batch, count * length, d_head) != right.shape:
            backwards = torch.equal(places, numbers.flip(1).flatten(1, 2))
            order = ", the last one first" if backwards else ""
            return f"Your heads stand one below the other{order}. Along which axis do they stand side by side?"
    if places.shape != right.shape or torch.equal(places, right):
        return AS_ASKED
    at = (places != right).nonzero()[0].tolist()
    origin = [int(i) for i in torch.unravel_index(places[tuple(at)], x.shape)]
    axes = "example, head, token and number" if not num_heads else "example, token and column"
    return f"Entry {at} of your result is x{_index(origin)}. Which {axes} should it be from?"


def _split(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


def _index(places: Sequence[int]) -> str:
    return str(list(places))
