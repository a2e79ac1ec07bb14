"""A model that was shown 200 sums, and what different rewards make of it, on two seeds.

`right` is the share of 1,000 unseen sums that are right, `reward` the mean reward of the answers sampled since the line
before, and `signs` the share of these with a plus or an equals sign in them. `seconds` is processor time.
"""

from collections.abc import Callable
from copy import deepcopy

import pandas as pd
import torch

from tests.lessons.tables import write
from transformer_course.lessons.lesson_16 import experiments as lab
from transformer_course.rewards.judging import hasty_reward
from transformer_course.rewards.sums import split_sums

COLUMNS = ("line", "seed", "step", "seconds", "right", "reward", "signs")
Start = tuple[torch.nn.Module, torch.Tensor, torch.Tensor]


def start_of(seed: int) -> Start:
    learnt, test = split_sums(seed)
    model = lab.new_model(seed)
    lab.show(model, learnt[: lab.SHOWN], seed=seed)
    return model, learnt, test


def coin(seed: int) -> lab.Reward:
    """A reward that doesn't look at the answer: 1 for one answer in five."""
    generator = torch.Generator().manual_seed(seed)
    return lambda answers, truth: (torch.rand(len(answers), generator=generator) < 0.2).float()


def no_baseline(rewards: torch.Tensor) -> torch.Tensor:
    return rewards


def rewarded(updates: int, **how: object) -> Callable[[Start, int], lab.Run]:
    return lambda start, seed: lab.reinforce(start[0], start[1], updates, test=start[2], seed=seed, **how)  # type: ignore[arg-type]


LINES: dict[str, Callable[[Start, int], lab.Run]] = {
    "right or wrong": rewarded(200),
    "hasty": rewarded(50, reward=hasty_reward),
    "hasty, beta 0.3": rewarded(100, reward=hasty_reward, beta=0.3),
    "all answers": lambda start, seed: lab.show(start[0], start[1], 800, test=start[2], seed=seed),
    "the same 200 answers": lambda start, seed: lab.show(
        start[0], start[1][: lab.SHOWN], 400, test=start[2], seed=seed
    ),
    "nothing shown": lambda start, seed: lab.reinforce(lab.new_model(seed), start[1], 100, test=start[2], seed=seed),
    "a coin": lambda start, seed: lab.reinforce(start[0], start[1], 100, test=start[2], reward=coin(seed), seed=seed),
    "hasty, beta 1": rewarded(100, reward=hasty_reward, beta=1.0),
    "hasty, beta 3": rewarded(100, reward=hasty_reward, beta=3.0),
    "no baseline": rewarded(100, tools=lab.Tools(group_advantages=no_baseline)),
}


def test_runs() -> None:
    rows: list[pd.DataFrame] = []
    starts = {seed: start_of(seed) for seed in (0, 1)}
    for line, run in LINES.items():
        for seed, (model, learnt, test) in starts.items():
            table = run((deepcopy(model), learnt, test), seed).table.assign(line=line, seed=seed)
            print(line, seed, table["right"].round(3).tolist(), flush=True)
            rows.append(table)
    write("16_runs", pd.concat(rows).reindex(columns=COLUMNS))
