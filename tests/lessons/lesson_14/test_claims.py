"""What lesson 14 says under "What you should see", measured again on two seeds, or on three."""

from functools import cache

import pandas as pd
import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later, later
from transformer_course import lengths
from transformer_course.length_generalization.adder import Adder
from transformer_course.length_generalization.letters import HINTS
from transformer_course.length_generalization.positions import PlaceEmbedding, random_offset_positions
from transformer_course.length_generalization.sight import moved_by
from transformer_course.lessons.lesson_14 import experiments as lab
from transformer_course.lessons.tables import measured
from transformer_course.sequences import shift_right
from transformer_course.tasks.addition import Pair

Shares = dict[int, float]
three_seeds_later = pytest.mark.parametrize("seed", [pytest.param(seed, marks=later) for seed in (0, 1, 2)])


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
    rows = measured("14_recipes")
    return rows if seed is None else rows[rows["seed"] == seed]


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


def test_the_same_cliff_in_reversal() -> None:
    right = lengths.lines_of(measured("06_lengths"))["learned"]
    assert right[10] == 1
    assert right[11] == 0


@both_seeds
def test_letters_run_out(seed: int) -> None:
    writing = lab.Recipe(reversed=True, hints=True).writing
    used = lab.letters_used(["".join(writing.texts(pair)) for pair in learnt(seed)])
    assert [letter for letter, count in used.items() if count] == list("abcdef")
    assert "g" in writing.texts((123456, 234567))[1]


@both_seeds
def test_every_row_is_met(seed: int) -> None:
    dice = torch.Generator().manual_seed(seed)
    fixed = lab.used_in_training(lambda _: torch.arange(8)[1:], 2000, len(HINTS))
    anywhere = lab.used_in_training(lambda _: random_offset_positions(8, len(HINTS), dice)[1:], 2000, len(HINTS))
    assert len(HINTS) == 113
    assert fixed.count(0) == 106
    assert [row for row, count in enumerate(anywhere) if not count] == [0]
    assert anywhere[1] < max(anywhere) / 3 > anywhere[-1]
    # The same rows get a gradient in the model itself.
    for offset, used in ((False, range(1, 8)), (True, range(1, 113))):
        model = lab.Told(vectors=True, offset=offset).model(seed)
        source, target = model.writing.tensors(learnt(seed)[-2000:])
        model(source, shift_right(target, model.writing.alphabet.start_id)).square().sum().backward()
        assert isinstance(model.table, PlaceEmbedding)
        gradients = model.table.vectors.weight.grad
        assert gradients is not None
        assert gradients.abs().sum(dim=1).nonzero()[:, 0].tolist() == list(used)


@both_seeds
def test_hints_do_not_reach_six(seed: int) -> None:
    for recipe in ("hints", "reversed, hints"):
        assert by_length(recipe, seed)[6] == 0


def test_hints_take_longer_to_learn() -> None:
    right = sorted(by_length("reversed, hints", seed)[5] for seed in (0, 1))
    assert right[0] <= 0.06
    assert right[1] >= 0.98


@both_seeds
def test_offsets_soften_the_cliff(seed: int) -> None:
    right = by_length("reversed, offsets", seed)
    assert 0.7 <= right[5] <= 0.92
    assert 0.4 <= right[6] <= 0.76
    assert 0.25 <= right[7] <= 0.4
    assert right[10] <= 0.04
    assert by_length("reversed", seed)[6] <= 0.02


@both_seeds
def test_hints_and_offsets_need_more(seed: int) -> None:
    assert by_length("reversed, hints, offsets", seed)[5] == 0


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
    assert by_length("window", seed)[10] >= 0.96
    assert by_length("window", seed, "long_carries")[10] <= 0.14
    for kind in ("exact", "long_carries"):
        assert by_length("reversed, window", seed, kind)[10] >= 0.98


def test_a_hundred_depends_on_the_seed() -> None:
    right = sorted(by_length("window", seed)[100] for seed in (0, 1))
    assert right[0] <= 0.4
    assert right[1] >= 0.96
    assert max(by_length("window", seed, "long_carries")[100] for seed in (0, 1)) == 0


def sums(pairs: dict[int, int], least: int) -> int:
    """How many sums have a carry through at least so many places."""
    return sum(count for passed, count in pairs.items() if passed >= least)


@cache
def usual(seed: int) -> Adder:
    return trained(seed, lab.STEPS, window=True)


@both_seeds
def test_four_places_in_sight(seed: int) -> None:
    """Whatever its weights, so without any training; and of a model with one window in place of two, two places."""
    depths = {}
    for layers in (0, 1):
        model = lab.Recipe(window=True).model(seed).eval()
        model.encoder = model.encoder[:layers]
        source, target = model.writing.tensors([(1234567891, 2345678912)])
        moved = moved_by(model, source, shift_right(target, model.writing.alphabet.start_id))
        depths[layers] = lab.deepest(lab.by_place(model, source, moved))
    assert depths == {0: 2, 1: 4}


@three_seeds_later
def test_it_guesses_above_long_chains(seed: int) -> None:
    above = lab.right_above_chains(usual(seed), digits=10, longest=6, seed=seed)
    assert above.loc[:1].min().min() >= 0.87
    fails_at = next(chain for chain in above.index if above.loc[chain].min() < 0.75)
    assert fails_at in (2, 3)
    with_carry, without = (above.loc[fails_at:, name] for name in above)
    assert 0.05 < with_carry.min() < with_carry.max() < 0.5
    assert 0.55 < without.min() < without.max() <= 1.0
    assert without.min() > with_carry.max()
    short = lab.right_above_chains(usual(seed), digits=5, longest=3, seed=seed)  # length doesn't make the difference
    assert short.loc[fails_at].min() < 0.75
    assert short.loc[: fails_at - 1].min().min() > 0.75


@both_seeds
def test_long_chains_are_rare_in_training(seed: int) -> None:
    counts = lab.chains_in(learnt(seed))
    assert sum(counts.values()) == 20_000
    assert sums(counts, 3) < 25
    assert 150 < sums(counts, 2) < 260


@both_seeds
def test_practice_helps_as_far_as_it_sees(seed: int) -> None:
    practised = measured("14_practice")
    of_both = practised[(practised["kind"] == "practice") & (practised["seed"] == seed)]
    above = of_both.set_index("chain")[["carry", "no_carry"]]
    assert above.loc[:3].min().min() >= 0.95
    beyond = above.loc[4:]
    assert 0.04 <= beyond["carry"].min() <= beyond["carry"].max() <= 0.32
    assert 0.70 <= beyond["no_carry"].min() <= beyond["no_carry"].max() <= 0.96
    assert len(lab.practice_sums(seed)) == 6000


def test_practice_takes_sums_and_steps() -> None:
    """Without either of them, a carry that comes through three 9s is often lost."""
    practised = measured("14_practice")
    above_three = practised[practised["chain"] == 3].set_index(["kind", "seed"])["carry"]
    assert above_three["usual sums"].tolist() == [0.15, 0.4]
    assert above_three["one go"].tolist() == [0.44, 0.64]


@cache
def told(seed: int) -> pd.DataFrame:
    rows = measured("14_told")
    assert set(rows["line"]) == {one.name for one in lab.TOLD}
    return lab.parts_of_the_story(rows[rows["seed"] == seed], table(seed))


@both_seeds
def test_the_offset_makes_the_slope(seed: int) -> None:
    for name in ("index", "vectors", "vectors, mask"):
        assert told(seed).loc[name, 5] >= 0.98
        assert told(seed).loc[name, 6] == 0
    assert told(seed).loc["vectors, offset", 6] >= 0.4


def test_half_a_window() -> None:
    at_six = [told(seed).loc["rotary", 6] for seed in (0, 1)]
    assert 0.1 < min(at_six) < max(at_six) < 0.6
    assert max(told(seed).loc["rotary", 7] for seed in (0, 1)) <= 0.02
    masked = [told(seed).loc["vectors, offset, mask"] for seed in (0, 1)]
    for length, low, high in ((6, 0.1, 0.8), (10, 0.05, 0.4)):
        shares = sorted(share[length] for share in masked)
        assert shares[0] <= low
        assert high <= shares[1] < 0.9
    assert max(share[20] for share in masked) < 0.2


@both_seeds
def test_both_halves(seed: int) -> None:
    assert told(seed).loc["rotary, mask", 20] >= 0.94


@both_seeds
def test_two_ingredients_are_needed(seed: int) -> None:
    assert set(table(seed)["line"]) == set(all_recipes())
    assert len(table(seed)) == 16 * len(lab.LENGTHS)
    carried = {name: by_length(name, seed, "long_carries")[20] for name in all_recipes()}
    good = {name for name, share in carried.items() if share >= 0.98}
    assert good == {"reversed, window", "reversed, offsets, window", "reversed, hints, offsets, window"}
    assert max(share for name, share in carried.items() if name not in good) <= 0.06


@both_seeds
def test_nothing_without_places(seed: int) -> None:
    for name in ("none of the four", "reversed", "hints", "reversed, hints"):
        assert by_length(name, seed)[6] == 0


@both_seeds
def test_hints_with_offsets(seed: int) -> None:
    for kind in ("exact", "long_carries"):
        assert by_length("reversed, hints, window", seed, kind)[6] <= 0.02
        together = by_length("reversed, hints, offsets, window", seed, kind)
        assert min(share for length, share in together.items() if length <= 50) == 1
        assert together[100] >= 0.98
