"""What the exercises about attention share: the weights as an aspect, and what a mask leaves open."""

import torch

from cellcheck.authoring import Aspect, Case, Observation, aspects
from cellcheck.authoring.modules import answered_rows


def attention_weights() -> Aspect:
    """The second thing that attention returns."""
    meaning = "The attention weights are returned as well, and they are right."
    return Aspect("weights returned", keys=("weights",), kinds=aspects.CONTENT - {"error"}, weight=2.0, meaning=meaning)


def leave_open(observation: Observation, *masks: torch.Tensor | None) -> Observation:
    """Where a mask allows nothing, finite numbers are all the contract asks for: they become 0 here."""
    settled = dict(observation)
    for mask in masks:
        for name in ("output", "weights"):
            numbers = settled.get(name)
            if mask is None or not isinstance(numbers, torch.Tensor) or not numbers.is_floating_point():
                continue
            leading = numbers.shape[:-1]
            rows = mask.any(dim=-1).expand(leading) if name == "weights" else answered_rows(mask, leading)
            assert rows is not None
            settled[name] = torch.where(rows[..., None] | ~numbers.isfinite(), numbers, 0.0)
    return settled


def where_answered(observation: Observation, case: Case) -> Observation:
    """The canonical form for layers with one `mask`: see `leave_open`."""
    return leave_open(observation, case.inputs.get("mask"))
