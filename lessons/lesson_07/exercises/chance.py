"""Judging what was drawn by lot: by its distribution, never by one draw.

Drawn tokens are counted, and a chi-square test asks whether the counts fit the right probabilities. Counts that fit
are replaced by those probabilities, so that all right ways to draw look the same, and so does everybody who draws from
the same wrong distribution. A right sampler fails with a chance of `FALSE_ALARM` a case.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

FALSE_ALARM = 1e-10
LEAST_EXPECTED = 20.0  # below that, counts are not normal enough for the test


def fits(counts: torch.Tensor, probabilities: torch.Tensor) -> bool:
    """Whether counts (rows, tokens) may well come from these probabilities, all rows together."""
    expected = probabilities * counts.sum(dim=-1, keepdim=True)
    possible = expected > 0
    if bool((counts[~possible] > 0).any()):
        return False
    freedom = int(possible.sum()) - len(counts)
    if freedom == 0:
        return True
    distance = ((counts - expected) ** 2 / expected)[possible].sum()
    chance = torch.special.gammaincc(torch.tensor(freedom / 2).double(), distance / 2)
    return bool(chance > FALSE_ALARM)


def settled(counts: torch.Tensor, distributions: Iterable[torch.Tensor]) -> torch.Tensor:
    """The first of the distributions that the counts fit; their own shares when they fit none."""
    counts = counts.double()
    for probabilities in distributions:
        if fits(counts, probabilities):
            return probabilities
    return counts / counts.sum(dim=-1, keepdim=True)


def shows(probabilities: torch.Tensor, others: Iterable[torch.Tensor], draws: int) -> bool:
    """Whether so many draws a row are enough: no count is small, and no other distribution can be taken for this."""
    expected = probabilities * draws
    if bool((expected[expected > 0] < LEAST_EXPECTED).any()):
        return False
    return all(distance(probabilities, other) * draws > 400 for other in others)


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """What one draw a row from `other` adds to the chi-square distance from `one`, on average."""
    apart = (other - one) ** 2 / one
    return float(torch.where(other == one, 0.0, apart).sum())


def counted(ids: torch.Tensor, rows: int, tokens: int) -> torch.Tensor:
    """How often each token came, (rows, tokens), of ids whose first share belongs to row 0, and so on.

    Raises:
        ValueError: when these are no such ids.
    """
    if ids.numel() % rows or ids.numel() == 0 or not bool(((ids >= 0) & (ids < tokens) & (ids == ids.round())).all()):
        raise ValueError("no ids")
    one_hot = torch.nn.functional.one_hot(ids.long().reshape(rows, -1), tokens)
    return one_hot.sum(dim=1).double()
