"""What the exercises about attention share: the weights as an aspect, and what a mask leaves open."""

from __future__ import annotations

import torch

from grader.authoring.aspects import CONTENT
from grader.authoring.modules import answered_rows
from grader.authoring.spec import Aspect, Case, Observation


def attention_weights() -> Aspect:
    """The second thing that attention returns."""
    meaning = "The attention weights are returned as well, and they are right."
    return Aspect("weights returned", keys=("weights",), kinds=CONTENT - {"error"}, weight=2.0, meaning=meaning)


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


def where_answered(observation: Observation, case: Case) -> Observation:
    """The canonical form for layers with one `mask`: see `leave_open`."""
    return leave_open(observation, case.inputs.get("mask"))
