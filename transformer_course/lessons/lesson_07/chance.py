"""Judging what was sampled: by its distribution, never by one sample.

Sampled tokens are counted, and a chi-square test asks whether the counts fit the right probabilities. Counts that fit
are replaced by those probabilities, so that all right ways to sample look the same, and so does everybody who samples
from the same wrong distribution. A right sampler fails with a probability of `FALSE_ALARM` per case.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch

from cellcheck.authoring import Aspect, Observation, aspects

FALSE_ALARM = 1e-10
SAMPLED = "how_often_each_token_is_sampled"  # what a card calls the probabilities, and frequencies that fit none
LEAST_EXPECTED = 20.0  # below that, counts are not normal enough for the test


def from_the_generator(weight: float = 1.0) -> Aspect:
    """All randomness comes from the generator that is passed in."""
    meaning = "The same seed gives the same result, a different seed a different one, and no other randomness is used."
    return aspects.special("randomness from the generator alone", "chance", weight, meaning, keys=("chance",))


frequencies = partial(aspects.special, keys=(SAMPLED,))
"""How often tokens come up, in the cases with one special tag."""


def fits(counts: torch.Tensor, probabilities: torch.Tensor) -> bool:
    """Whether counts (rows, tokens) may well come from these probabilities, over all rows together."""
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
    """The first distribution that the counts fit; their own frequencies when they fit none."""
    counts = counts.double()
    for probabilities in distributions:
        if fits(counts, probabilities):
            return probabilities
    return counts / counts.sum(dim=-1, keepdim=True)


def shows(probabilities: torch.Tensor, others: Iterable[torch.Tensor], draws: int) -> bool:
    """Whether so many samples per row are enough: no count is small, and no other distribution looks like this one."""
    expected = probabilities * draws
    if bool((expected[expected > 0] < LEAST_EXPECTED).any()):
        return False
    return all(distance(probabilities, other) * draws > 400 for other in others)


def distance(one: torch.Tensor, other: torch.Tensor) -> float:
    """What one sample per row from `other` adds to the chi-square distance from `one`, on average."""
    apart = (other - one) ** 2 / one
    return float(torch.where(other == one, 0.0, apart).sum())


def sampled(observation: Observation, shape: Iterable[int], distributions: Iterable[torch.Tensor]) -> Observation:
    """The same observation with frequencies, under the name `SAMPLED`, in place of the ids that were sampled.

    `shape` is (rows, tokens), and the first of the distributions is the right one. What isn't a tensor of ids stays as
    it is under the new name; ids outside the vocabulary are left out of the count.
    """
    rows, tokens = shape
    ids: Any = observation["output"]
    others = {key: value for key, value in observation.items() if key != "output"}
    try:
        shares = settled(counted(ids, rows, tokens), distributions)
    except ValueError:
        shares = torch.zeros(rows, tokens).double()
    except (TypeError, AttributeError):
        shares = ids
    return {**others, SAMPLED: shares}


def counted(ids: torch.Tensor, rows: int, tokens: int) -> torch.Tensor:
    """How often each token came up, (rows, tokens); the first ids belong to row 0, and so on.

    Raises:
        ValueError: when these are not such ids.
    """
    if ids.numel() % rows or ids.numel() == 0 or not bool(((ids >= 0) & (ids < tokens) & (ids == ids.round())).all()):
        raise ValueError("not ids of this vocabulary, as many for each row")
    one_hot = torch.nn.functional.one_hot(ids.long().reshape(rows, -1), tokens)
    return one_hot.sum(dim=1).double()
