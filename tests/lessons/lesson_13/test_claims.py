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
from tests.nightly import both_seeds, both_seeds_later

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


@both_seeds
def test_hints_do_not_reach_six(seed: int) -> None:
    for recipe in ("hints", "reversed, hints"):
        assert by_length(recipe, seed)[6] <= 0.02


def test_hints_take_longer_to_learn() -> None:
    right = sorted(by_length("reversed, hints", seed)[5] for seed in (0, 1))
    assert right[0] <= 0.06
    assert right[1] >= 0.98


@both_seeds
def test_offsets_soften_the_cliff(seed: int) -> None:
    right = by_length("reversed, offsets", seed)
    assert 0.7 <= right[5] <= 0.92
    assert 0.4 <= right[6] <= 0.76
    assert 0.28 <= right[7] <= 0.38
    assert right[10] <= 0.02
    assert by_length("reversed", seed)[6] <= 0.02


@both_seeds
def test_hints_and_offsets_need_more(seed: int) -> None:
    assert by_length("reversed, hints, offsets", seed)[5] <= 0.02


@both_seeds_later
def test_a_hundred_digits(seed: int) -> None:
    model = trained(seed, lab.STEPS, reversed=True, window=True)
    right = lab.both_kinds(model, learnt(seed), (5, 8, 10, 20, 50, 100), count=100, seed=seed)
    for shares in right.values():
        assert min(share for length, share in shares.items() if length <= 50) >= 0.93
    assert 0.86 <= right["random sums"][100] <= 1.0
    assert right["long carries"][100] >= 0.95


@both_seeds
def test_carries_need_the_order(seed: int) -> None:
    assert by_length("window", seed)[10] >= 0.94
    assert by_length("window", seed, "long_carries")[10] <= 0.16
    for kind in ("exact", "long_carries"):
        assert by_length("reversed, window", seed, kind)[10] >= 0.96


def test_a_hundred_depends_on_the_seed() -> None:
    right = sorted(by_length("window", seed)[100] for seed in (0, 1))
    assert right[0] <= 0.4
    assert right[1] >= 0.96
    assert max(by_length("window", seed, "long_carries")[100] for seed in (0, 1)) <= 0.02


@both_seeds
def test_two_ingredients_are_needed(seed: int) -> None:
    assert set(table(seed)["line"]) == set(all_recipes())
    assert len(table(seed)) == 16 * len(lab.LENGTHS)
    carried = {name: by_length(name, seed, "long_carries")[20] for name in all_recipes()}
    good = {name for name, share in carried.items() if share >= 0.96}
    assert good == {"reversed, window", "reversed, offsets, window", "reversed, hints, offsets, window"}
    assert max(share for name, share in carried.items() if name not in good) <= 0.08


@both_seeds
def test_nothing_without_places(seed: int) -> None:
    for name in ("none of the four", "reversed", "hints", "reversed, hints"):
        assert by_length(name, seed)[6] <= 0.02


@both_seeds
def test_hints_with_offsets(seed: int) -> None:
    for kind in ("exact", "long_carries"):
        assert by_length("reversed, hints, window", seed, kind)[6] <= 0.02
        together = by_length("reversed, hints, offsets, window", seed, kind)
        assert min(share for length, share in together.items() if length <= 50) >= 0.98
        assert together[100] >= 0.96
