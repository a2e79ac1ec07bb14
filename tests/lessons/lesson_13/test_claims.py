"""What lesson 13 says under "What you should see", measured again on two seeds."""

from functools import cache

import pandas as pd
import torch

from course.length_generalization.adder import Adder
from course.length_generalization.letters import HINTS
from course.length_generalization.places import index_hints
from course.length_generalization.positions import random_offset_positions
from course.tasks.addition import Pair
from lessons.lesson_13 import experiments as lab
from lessons.tables import measured
from tests.proofs import both_seeds, both_seeds_later

Shares = dict[int, float]


@cache
def learnt(seed: int) -> list[Pair]:
    return lab.learnt_sums(seed)


@cache
def trained(seed: int, steps: int, **ingredients: bool) -> Adder:
    model = lab.Recipe(**ingredients).model(seed)
    lab.train(model, learnt(seed), steps=steps, seed=seed)
    return model


@cache
def table(seed: int | None = None) -> pd.DataFrame:
    found = measured("13_recipes")
    return found if seed is None else found[found["seed"] == seed]


def by_length(recipe: str, seed: int | None = None, kind: str = "exact") -> Shares:
    """From the long table: {digits: share}, of one seed or the mean of both."""
    return lab.lines(table(seed), [recipe], kind)[recipe]


def all_recipes() -> list[str]:
    return [recipe.name for recipe in lab.RECIPES]


@both_seeds_later
def test_a_cliff(seed: int) -> None:
    right = lab.both_kinds(trained(seed, 800, reversed=True), learnt(seed), (5, 6), count=100, seed=seed)
    for shares in right.values():
        assert shares[5] >= 0.98
        assert shares[6] <= 0.01


def test_the_table_is_whole() -> None:
    assert set(table()["line"]) == set(all_recipes())
    assert len(table()) == 2 * 16 * len(lab.LENGTHS)


@both_seeds
def test_letters_run_out(seed: int) -> None:
    met = lab.letters_met([index_hints(f"{a}+{b}={a + b}") for a, b in learnt(seed)])
    assert [letter for letter, count in met.items() if count] == list("abcdef")


@both_seeds
def test_every_row_is_met(seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    fixed = lab.met_in_training(lambda _: torch.arange(8), 2000, len(HINTS))
    anywhere = lab.met_in_training(lambda _: random_offset_positions(8, len(HINTS), dice), 2000, len(HINTS))
    assert len(HINTS) == 113
    assert fixed.count(0) == 105
    assert anywhere.count(0) == 0
    assert anywhere[0] < max(anywhere) / 3 > anywhere[-1]


@both_seeds_later
def test_a_hundred_digits(seed: int) -> None:
    model = trained(seed, lab.STEPS, reversed=True, window=True)
    right = lab.both_kinds(model, learnt(seed), (5, 20, 50, 100), count=100, seed=seed)
    print(right)
