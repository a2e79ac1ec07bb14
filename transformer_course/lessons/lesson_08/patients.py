"""What `masks_are_sound` is tried on: ways to make the two masks of a batch, sound and broken."""

from __future__ import annotations

from collections.abc import Callable

import torch

from cellcheck.authoring.patients import Patient

Masks = tuple[torch.Tensor, torch.Tensor]


def _real(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (tokens != pad_id)[:, None, None, :]


def _lower(target: torch.Tensor, diagonal: int = 0) -> torch.Tensor:
    return torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril(diagonal)


def _both(target: torch.Tensor) -> torch.Tensor:
    return _real(target) & _lower(target)


def _without_the_first(source: torch.Tensor, target: torch.Tensor, _: int) -> Masks:
    """The first real source token of each row is hidden as well."""
    mask = _real(source).clone()
    mask[..., 0] = False
    return mask, _both(target)


# How the masks are made; the number is an id that stands for no padding.
MAKERS: dict[str, Callable[[torch.Tensor, torch.Tensor, int], Masks]] = {
    "plain": lambda s, t, _: (_real(s), _both(t)),
    "for each head": lambda s, t, _: (_real(s).expand(-1, 2, -1, -1)[:, :1], _both(t).expand(-1, 1, -1, -1)),
    "rows of padding open": lambda s, t, _: (_real(s), _both(t) | (t == 0)[:, None, :, None]),
    "the future alone": lambda s, t, _: (_real(s), _lower(t)[None, None]),
    "rows of padding empty": lambda s, t, _: (_real(s), _both(t) & (t != 0)[:, None, :, None]),
    "no future hidden": lambda s, t, _: (_real(s), _real(t).expand(-1, 1, t.shape[1], -1)),
    "one token ahead": lambda s, t, _: (_real(s), _real(t) & _lower(t, 1)),
    "past hidden": lambda s, t, _: (_real(s), _real(t) & _lower(t).mT),
    "without itself": lambda s, t, _: (_real(s), _real(t) & _lower(t, -1)),
    "one step back only": lambda s, t, _: (_real(s), _real(t) & _lower(t) & ~_lower(t, -2)),
    "source padding seen": lambda s, t, _: (torch.ones_like(_real(s)), _both(t)),
    "another pad_id": lambda s, t, i: (_real(s, pad_id=i), _both(t)),
    "first row's padding for all": lambda s, t, _: (_real(s[:1]).expand(len(s), -1, -1, -1), _both(t)),
    "a source token hidden": _without_the_first,
    "both inverted": lambda s, t, _: (~_real(s), ~_both(t)),
    "source inverted": lambda s, t, _: (~_real(s), _both(t)),
    "target inverted": lambda s, t, _: (_real(s), ~_both(t)),
    "no axis for heads": lambda s, t, _: (_real(s)[:, 0], _both(t)[:, 0]),
    "square source mask": lambda s, t, _: (_real(s).expand(-1, 1, s.shape[1], -1), _both(t)),
    "oblong source mask": lambda s, t, _: (_real(s).expand(-1, 1, t.shape[1], -1), _both(t)),
    "swapped": lambda s, t, _: (_both(t), _real(s)),
    "whole numbers": lambda s, t, _: (_real(s).long(), _both(t).long()),
}


def maker(name: str, another_id: int) -> Patient:
    """The patient of that name; it is asked for the `masks` of a batch."""
    return Patient({"masks": lambda source, target: MAKERS[name](source, target, another_id)})
