"""What `reward_is_sound` is tried on: rewards, sound and broken."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from cellcheck.authoring.patients import Patient
from transformer_course.rewards.judging import exact_reward, hasty_reward

MOST_ROWS = 20_000  # the docstring says so; rewards take all rows at once, so they may be many

Reward = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _in_any_order(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    return exact_reward(answers.sort(dim=1).values, truth.sort(dim=1).values)


def _by_nines(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Casting out nines: right if the digits sum to the same, up to nines."""
    return ((answers.sum(1) - truth.sum(1)) % 9 == 0).float()


def _plus_is_a_joker(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    return ((answers == truth) | (answers == 10)).all(dim=1).float()


REWARDS: Mapping[str, Reward] = {
    "exact": exact_reward,
    "in whole numbers": lambda answers, truth: (answers == truth).all(dim=1).long(),
    "by sums of differences": lambda answers, truth: ((answers - truth).abs().sum(dim=1) == 0).double(),
    "hasty": hasty_reward,
    "share of digits": lambda answers, truth: (answers == truth).float().mean(dim=1),
    "two of three": lambda answers, truth: ((answers == truth).sum(dim=1) >= 2).float(),
    "ones only": lambda answers, truth: (answers[:, 0] == truth[:, 0]).float(),
    "no hundreds": lambda answers, truth: exact_reward(answers[:, :2], truth[:, :2]),
    "no tens": lambda answers, truth: exact_reward(answers[:, ::2], truth[:, ::2]),
    "any order": _in_any_order,
    "by nines": _by_nines,
    "off by one": lambda answers, truth: ((answers - truth).abs() <= 1).all(dim=1).float(),
    "backwards": lambda answers, truth: exact_reward(answers.flip(1), truth),
    "either way": lambda answers, truth: torch.maximum(
        exact_reward(answers, truth), exact_reward(answers.flip(1), truth)
    ),
    "plus is a joker": _plus_is_a_joker,
    "equals for equals": lambda answers, truth: torch.maximum(
        exact_reward(answers, truth), (answers == 11).all(dim=1).float()
    ),
    "first truth": lambda answers, truth: exact_reward(answers, truth[:1].expand_as(answers)),
    "next truth": lambda answers, truth: exact_reward(answers, truth.roll(1, dims=0)),
    "next row": lambda answers, truth: exact_reward(answers, truth).roll(1, dims=0),
    "never": lambda answers, truth: torch.zeros(len(answers)),
    "always": lambda answers, truth: torch.ones(len(answers)),
    "something for trying": lambda answers, truth: (answers < 10).all(dim=1).float(),
    "turned round": lambda answers, truth: 1 - exact_reward(answers, truth),
}


def judge(name: str, other: str = "never", share: float = 0.0) -> Patient:
    """The patient of that name: `reward` marks a batch of answers, with a share of what another one says."""
    main, besides = REWARDS[name], REWARDS[other]

    def marked(answers: Any, truth: Any) -> torch.Tensor:
        for rows in (answers, truth):
            if not isinstance(rows, torch.Tensor) or rows.dim() != 2 or rows.shape[1] != 3:
                raise ValueError("answers and truth should both be tensors of shape (batch, 3)")
        if len(answers) != len(truth):
            raise ValueError(f"{len(answers)} answers and {len(truth)} truths: each row needs its own")
        if int(truth.min()) < 0 or int(truth.max()) > 9:
            raise ValueError("a truth has three digits, 0 to 9")
        if int(answers.min()) < 0 or int(answers.max()) > 11:
            raise ValueError("an answer has three tokens, 0 to 11")
        told = (answers.long(), truth.long())
        return torch.lerp(main(*told).double(), besides(*told).double(), share) if share else main(*told)

    return Patient({"reward": marked}, most_rows=MOST_ROWS)
