"""Masked softmaxes as people write them: wrong ones, and right ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

Mask = torch.Tensor | None


def lowest(scores: torch.Tensor) -> float:
    return float(torch.finfo(scores.dtype).min)


def filled(fill: float | None, dim: int = -1) -> Callable[..., torch.Tensor]:
    """The usual line: hidden scores become `fill` (None: the lowest number), then softmax."""

    def softmax(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
        if mask is not None:
            scores = scores.masked_fill(~mask, lowest(scores) if fill is None else fill)
        return torch.softmax(scores, dim=dim)

    return softmax


def inverted(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return filled(None)(scores, None if mask is None else ~mask)


def after(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


def multiplied(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return torch.softmax(scores if mask is None else scores * mask, dim=-1)


def added(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return torch.softmax(scores if mask is None else scores + mask, dim=-1)


def infinity_times_zero(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores + (~mask).to(scores.dtype) * float("-inf")
    return torch.softmax(scores, dim=-1)


def over_everything(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, lowest(scores))
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def bare(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Softmax by its formula, without a care for large numbers."""
    powers = scores.exp() if mask is None else scores.exp() * mask
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def sum_without_keepdim(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, lowest(scores))
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1)


def without_division(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores.exp() if mask is None else scores.exp() * mask


def logarithm(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, lowest(scores))
    return torch.log_softmax(scores, dim=-1)


def in_place(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores.data.masked_fill_(~mask, lowest(scores))
    return torch.softmax(scores, dim=-1)


def mask_turned(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        mask.logical_not_()
        scores = scores.masked_fill(mask, lowest(scores))
    return torch.softmax(scores, dim=-1)


def needs_a_mask(scores: torch.Tensor, mask: Any = None) -> torch.Tensor:
    return torch.softmax(scores.masked_fill(~mask, lowest(scores)), dim=-1)


def one_mask_for_each_score(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.clone()
        scores[~mask] = lowest(scores)
    return torch.softmax(scores, dim=-1)


def renormalised(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    weights = torch.softmax(scores, dim=-1)
    if mask is None:
        return weights
    weights = weights * mask
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def own_formula(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    highest = scores.detach().where(allowed, torch.tensor(lowest(scores), dtype=scores.dtype))
    powers = torch.where(allowed, scores - highest.amax(-1, keepdim=True), -1.0).exp() * allowed
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def rows_saved(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Minus infinity, but in rows that allow something."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask & mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1)


def row_by_row(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    keys = scores.shape[-1]
    allowed = torch.ones(scores.shape, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    rows = []
    for row, open_ in zip(scores.reshape(-1, keys), allowed.reshape(-1, keys), strict=True):
        weights = torch.zeros(keys, dtype=scores.dtype)
        places = open_.nonzero()[:, 0]
        rows.append(weights.index_put((places,), F.softmax(row[places], dim=0)))
    return torch.stack(rows).reshape(scores.shape)


def log_space(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = torch.where(mask, scores, scores.new_tensor(-1e30))
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


def additive(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -1e9)
    return F.softmax(scores, dim=-1)


def of_halves(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Softmax in float32 whatever comes."""
    return filled(None)(scores.float(), mask).to(scores.dtype)


def cut(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return filled(None)(scores.detach(), mask)


def first_batch_mask(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return filled(None)(scores, None if mask is None else mask[:1])
