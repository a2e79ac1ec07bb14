"""What is told of wrong masks that match no mistake: the first position that sees too much, or too little."""

from __future__ import annotations

import torch

from tests.lessons.words import Told
from transformer_course import causal


def one_too_far(length: int) -> torch.Tensor:
    return torch.ones(length, length).tril(1).bool()


def itself_hidden(length: int) -> torch.Tensor:
    return torch.ones(length, length).tril(-1).bool()


def last_two(length: int) -> torch.Tensor:
    return causal.causal_mask(length).triu(-1)


def padding_left_in(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    batch, length = targets.shape
    return causal.causal_mask(length).expand(batch, 1, -1, -1)


def next_one_too(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (targets != pad_id)[:, None, None] & one_too_far(targets.shape[1])


def itself_hidden_too(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (targets != pad_id)[:, None, None] & itself_hidden(targets.shape[1])


def latest_two(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (targets != pad_id)[:, None, None] & last_two(targets.shape[1])


def padding_in_front_left_in(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    real = targets != pad_id
    in_front = real.cumsum(dim=1) == 0
    return (real | in_front & real.any(dim=1, keepdim=True))[:, None, None] & causal.causal_mask(targets.shape[1])


ON_CARDS: list[Told] = [
    ("decoder_mask", next_one_too, ", position 0 sees position 1, which comes after it."),
    ("decoder_mask", latest_two, "position 2 doesn't see position 0, which comes before it and isn't padding."),
    ("decoder_mask", padding_in_front_left_in, "sees itself, where the row has padding."),
]
UNNAMED: list[Told] = [
    ("causal_mask", one_too_far, "Position 0 sees position 1, which comes after it."),
    ("causal_mask", itself_hidden, "Position 0 doesn't see itself. Which positions"),
    ("causal_mask", last_two, "Position 2 doesn't see position 0, which comes before it."),
    ("decoder_mask", padding_left_in, ", where the row has padding. How do you find out where padding is?"),
    ("decoder_mask", itself_hidden_too, ", position 0 doesn't see itself, and no padding is there."),
]
RIGHT = [("causal_mask", "running sum"), ("decoder_mask", "row by row"), ("decoder_mask", "a product")]
