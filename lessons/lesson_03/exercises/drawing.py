"""What several exercises of lesson 03 share: aspects, and what a mask leaves open."""

from __future__ import annotations

from typing import Any

import torch

from grader.authoring.aspects import CONTENT, KNOWN
from grader.authoring.modules import answered_rows
from grader.authoring.spec import Aspect, Case, Observation


def leave_open(observation: Observation, case: Case) -> Observation:
    """Where nothing is allowed, finite numbers are all the contract asks for: they become 0 here."""
    mask = case.inputs.get("mask")
    if mask is None:
        return observation
    kept = dict(observation)
    for name, heads in (("output", False), ("weights", True)):
        numbers = observation.get(name)
        if isinstance(numbers, torch.Tensor) and numbers.is_floating_point():
            leading = numbers.shape[:-1]
            rows = mask.any(dim=-1).expand(leading) if heads else answered_rows(mask, leading)
            assert rows is not None
            kept[name] = torch.where(rows[..., None] | ~numbers.isfinite(), numbers, 0.0)
    return kept


def parts(weight: float = 1.0) -> Aspect:
    """The parts have the names and shapes of the docstring, and are trained."""
    return Aspect("named parts, all in use", keys=("parts", "unused"), kinds=KNOWN, weight=weight)


def modes() -> Aspect:
    """The module stays in the mode in which it was put."""
    return Aspect("train and eval mode untouched", keys=("training_mode",), kinds=KNOWN, weight=0.5)


def attention_weights(weight: float = 2.0) -> Aspect:
    """The second thing that attention returns."""
    return Aspect("weights returned", keys=("weights",), kinds=CONTENT - {"error"}, weight=weight)


def tagged(*tags: str) -> frozenset[str]:
    """Tags of a case."""
    return frozenset(tags)


Inputs = dict[str, Any]
