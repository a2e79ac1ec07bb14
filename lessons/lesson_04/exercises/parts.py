"""What the exercises about modules share: aspects, masks, and what a mask leaves open."""

from __future__ import annotations

from typing import Any

import torch

from grader.authoring.aspects import CONTENT, KNOWN
from grader.authoring.modules import answered_rows
from grader.authoring.spec import Aspect, Observation

Inputs = dict[str, Any]


def parts(weight: float = 1.0) -> Aspect:
    """The parts have the names and shapes of the docstring, and all of them are trained."""
    return Aspect("named parts, all in use", keys=("parts", "unused"), kinds=KNOWN, weight=weight)


def modes() -> Aspect:
    """The module stays in the mode in which it was put."""
    return Aspect("train and eval mode untouched", keys=("training_mode",), kinds=KNOWN, weight=0.5)


def attention_weights(weight: float = 2.0) -> Aspect:
    """The second thing that attention returns."""
    return Aspect("weights returned", keys=("weights",), kinds=CONTENT - {"error"}, weight=weight)


def leave_open(observation: Observation, *masks: torch.Tensor | None) -> Observation:
    """Where a mask allows nothing, finite numbers are all the contract asks for: they become 0 here."""
    kept = dict(observation)
    for mask in masks:
        for name in ("output", "weights"):
            numbers = kept.get(name)
            if mask is None or not isinstance(numbers, torch.Tensor) or not numbers.is_floating_point():
                continue
            leading = numbers.shape[:-1]
            rows = mask.any(dim=-1).expand(leading) if name == "weights" else answered_rows(mask, leading)
            assert rows is not None
            kept[name] = torch.where(rows[..., None] | ~numbers.isfinite(), numbers, 0.0)
    return kept


def tagged(*tags: str) -> frozenset[str]:
    """Tags of a case."""
    return frozenset(tags)


def with_an_empty_source(batch: int, length: int) -> torch.Tensor:
    """(batch, 1, 1, length), for three rows or more: one without padding, one that is all padding, others between."""
    lengths = [length, *(1 + i % (length - 1) for i in range(batch - 2)), 0]
    return (torch.arange(length) < torch.tensor(lengths)[:, None])[:, None, None, :]
