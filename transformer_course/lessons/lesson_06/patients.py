"""Toy models that see the order of their tokens, or don't: the patients of lesson 06's bug clinic."""

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional as F

from cellcheck.authoring.patients import Patient

Tables = Mapping[str, torch.Tensor]
""""vectors" (vocab_size, classes) and "places" (length, classes)."""
Way = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], torch.Tensor]


def _bag(x: torch.Tensor, *_: object) -> torch.Tensor:
    """The vectors in the order of their size: the sum is the same to the last bit."""
    return x.sort(dim=1).values.sum(dim=1)


def _rounding(x: torch.Tensor, *_: object) -> torch.Tensor:
    """A sum from left to right: another order rounds otherwise."""
    total = x[:, 0]
    for i in range(1, x.shape[1]):
        total = total + x[:, i]
    return total


def _attention(x: torch.Tensor, *_: object) -> torch.Tensor:
    weights = torch.softmax(x @ x.mT, dim=-1)  # every token looks at every token
    return (weights @ x).mean(dim=1)


def _causal(x: torch.Tensor, *_: object) -> torch.Tensor:
    """No positions, but a token attends only to itself and to what came before."""
    later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    weights = torch.softmax((x @ x.mT).masked_fill(later, -torch.inf), dim=-1)
    return (weights @ x).mean(dim=1)


def _never_added(x: torch.Tensor, places: torch.Tensor, *_: object) -> torch.Tensor:
    moved = x + places  # what the bug clinic is about: nobody reads this
    return _attention(x) if moved.isfinite().all() else moved[:, 0]


def _added(x: torch.Tensor, places: torch.Tensor, *_: object) -> torch.Tensor:
    return _attention(x + places)


def _weighed(x: torch.Tensor, weights: list[float] | torch.Tensor) -> torch.Tensor:
    return (x * torch.as_tensor(weights, dtype=x.dtype)[:, None]).sum(dim=1)


def _mirror(x: torch.Tensor, *_: object) -> torch.Tensor:
    """Forwards and backwards are the same: each place weighs as much as the one opposite."""
    length = x.shape[1]
    return _weighed(x, [1.0 + abs(2 * i - length + 1) for i in range(length)])


def _ring(x: torch.Tensor, *_: object) -> torch.Tensor:
    """Neighbours in a ring: where it begins does not matter."""
    return (x * x.roll(1, dims=1)).sum(dim=1)


def _one_logit(x: torch.Tensor, places: torch.Tensor, tokens: torch.Tensor, special: int) -> torch.Tensor:
    keep = torch.arange(x.shape[-1]) != special % x.shape[-1]
    return torch.where(keep, _bag(x), _bag(x) + x[:, 0])


def _slightly(x: torch.Tensor, *_: object) -> torch.Tensor:
    """A tenth of the first place: too little to change which class wins."""
    spread = torch.arange(x.shape[-1], dtype=x.dtype) * 8  # the last class always wins
    return _bag(x) + spread + 0.1 * x[:, 0]


def _balanced(x: torch.Tensor, *_: object) -> torch.Tensor:
    """What one logit gains the next one loses: their sum knows nothing."""
    first = x[:, 0, 0]
    logits = _bag(x).clone()
    logits[:, 0] += first
    logits[:, 1] -= first
    return logits


def _rare(x: torch.Tensor, places: torch.Tensor, tokens: torch.Tensor, special: int) -> torch.Tensor:
    """It notices one token at the front, and nothing else."""
    return _bag(x) + (tokens[:, :1] == special).to(x.dtype)


WAYS: dict[str, Way] = {
    # Blind to order.
    "bag": _bag,
    "rounding": _rounding,
    "attention": _attention,
    "never added": _never_added,
    "largest": lambda x, *_: x.amax(dim=1) + x.amin(dim=1),
    # Not blind.
    "added": _added,
    "causal": _causal,
    "first place": lambda x, *_: x[:, 0],
    "last place": lambda x, *_: x[:, -1],
    "middle place": lambda x, *_: _bag(x) + x[:, x.shape[1] // 2],
    "halves": lambda x, *_: _weighed(x, [1.0 if 2 * i < x.shape[1] else 2.0 for i in range(x.shape[1])]),
    "every other place": lambda x, *_: _weighed(x, [1.0 + i % 2 for i in range(x.shape[1])]),
    "mirror": _mirror,
    "ring": _ring,
    "one logit": _one_logit,
    "slightly": _slightly,
    "balanced": _balanced,
    "rare": _rare,
}


def ordered(way: str, special: int, rate: float) -> Patient:
    """Tokens (batch, length) -> logits (batch, classes): a vector for each token, and a way to join them.

    `rate` is a dropout on the vectors, on in training mode. All drawn numbers lie well above 0, so that rounding
    stays small beside the logits.
    """
    chance = torch.Generator().manual_seed(0)

    def logits(tokens: torch.Tensor, tables: Tables, training: bool) -> torch.Tensor:
        x = F.embedding(tokens, tables["vectors"])  # (batch, length, classes)
        if training and rate:
            x = x * (torch.rand(x.shape, generator=chance) >= rate) / (1 - rate)
        return WAYS[way](x, tables["places"][: tokens.shape[1]], tokens, special)

    return Patient({"logits": logits})
