"""What lesson 11 says under "What you should see", measured again; of names and plays, mostly from the long tables."""

import math
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import pandas as pd
import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.lessons.lesson_11 import experiments as lab
from transformer_course.lessons.tables import measured

COPIES = (11, 17)
"""The longest copies of 24 texts of 500 characters, as the text says."""


@cache
def names(seed: int) -> lab.Corpus:
    return lab.names(seed)


@both_seeds
def test_guessing_costs_the_logarithm(seed: int) -> None:
    torch.manual_seed(seed)
    model = lab.new_gpt(names(seed), lab.NAMES)
    assert names(seed).vocab_size == 28
    assert lab.losses_of(model, names(seed).held_out, 16).mean().item() == pytest.approx(math.log(28), abs=0.1)


@cache
def inventor(seed: int) -> lab.Run:
    """The run of the lesson; a text of its own for the second seed. What it writes after 0 and 100 steps is noted."""

    def look(step: int, model: torch.nn.Module) -> dict[str, float]:
        some = lab.invented(model, names(seed), count=60, seed=3)
        return {"turns": _takes_turns(some), "length": sorted(map(len, some))[30]}

    return lab.read(lab.new_gpt, names(seed), lab.NAMES, seed=seed, look=look, look_at=(0, 100))


def _takes_turns(some: Iterable[str]) -> float:
    """Of all neighbouring letters in some names, the share with one vowel and one consonant."""
    pairs = [pair for name in some for pair in pairwise(name)]
    return sum((a in "aeiouy") != (b in "aeiouy") for a, b in pairs) / len(pairs)


@both_seeds_later
def test_what_it_knows_after_100_steps(seed: int) -> None:
    """What the text says below the first names."""
    new, after = inventor(seed).seen
    listed = lab.known_names()
    assert new["turns"] < 0.45
    assert after["turns"] == pytest.approx(_takes_turns(listed), abs=0.06)
    assert abs(after["length"] - sorted(map(len, listed))[len(listed) // 2]) <= 1
    assert new["length"] > 10


@cache
def invented() -> pd.DataFrame:
    """Of each quantity, the values on six seeds."""
    return measured("11_names").pivot_table(index="seed", columns="what", values="value")


def test_most_names_are_new() -> None:
    table = invented()
    assert table["in the list, of 200, least"].min() == 8
    assert table["in the list, of 200, most"].max() == 24
    assert table["in the list, of 200, mean"].mean() == pytest.approx(15, abs=0.5)
    assert table["shaped like a name, mean"].between(0.88, 0.93).all()


def test_held_out_names_are_hit_too() -> None:
    table = invented()
    read, held_out = table["hits among those read"].sum(), table["hits among those held out"].sum()
    assert held_out == 49
    assert read + held_out == 541
    assert abs(held_out / 541 - 0.1) < (0.1 * 0.9 / 541) ** 0.5  # within a standard error of the list's own share


def test_what_shifts_do_to_the_loss() -> None:
    """What the bug clinic says of targets that weren't shifted, or were shifted twice."""
    table = invented().dropna()
    assert (table["loss after 100 steps, unshifted"] < 0.05).all()
    assert table["last loss, shifted"].between(2.05, 2.2).all()
    assert table["last loss, shifted twice"].between(2.5, 2.7).all()


@both_seeds_later
def test_names_get_better(seed: int) -> None:
    corpus = names(seed)
    counts = torch.bincount(corpus.train, minlength=28).double()
    by_frequency = -(counts / counts.sum())[corpus.held_out[1:]].log2().mean().item()
    held_out = lab.bits(inventor(seed).model, corpus, 16)
    assert 3.05 < held_out < 3.15
    assert held_out < by_frequency - 1


def test_hardly_any_by_heart() -> None:
    table = invented()
    gap = table["bits, held out"] - table["bits, read"]
    assert gap.round(2).between(0.04, 0.07).all()
    assert (table["nats, held out, standard error"] / math.log(2)).between(0.015, 0.025).all()


@cache
def plays() -> pd.DataFrame:
    """Of each quantity, the values on three seeds; of characters and controls, on two."""
    return measured("11_plays").pivot_table(index="seed", columns="what", values="value")


def test_byte_pairs_get_further() -> None:
    table = plays()
    assert table["bits, byte pairs"].between(3.0, 3.1).all()
    table = table.dropna()
    assert table["bits, characters"].between(3.35, 3.5).all()
    assert (table["seconds, byte pairs"] < 1.05 * table["seconds, characters"]).all()


def test_where_the_tables_begin() -> None:
    """What the exercise's text says about a standard deviation of 1."""
    table = plays().dropna()
    assert table["bits, positions at 1"].between(3.95, 4.05).all()
    assert table["bits, both at 1"].between(3.2, 3.35).all()
    assert table["first loss, embedding at 1"].between(50, 65).all()
    assert (table["bets on the token just read, embedding at 1"] > 0.99).all()
    assert table["first loss, byte pairs"].between(6.2, 6.4).all()
    assert (table["bits, embedding at 1"] - table["bits, byte pairs"]).abs().max() < 0.1


def test_scaled_residuals_gain_nothing() -> None:
    table = plays().dropna()
    assert (table["bits, residuals scaled"] > table["bits, byte pairs"] - 0.02).all()


def test_it_does_not_quote() -> None:
    table = plays()
    texts = table[[f"longest copy, text {text}" for text in range(8)]]
    assert (texts.min(axis=None), texts.max(axis=None)) == COPIES
    held_out = table.loc[0]
    assert held_out["longest copy, held out, median"] == 19
    assert held_out["longest copy, held out, least"] == 15
    assert held_out["longest copy, held out, most"] == 31
    read = lab.PAIRS.steps * lab.PAIRS.batch_size * lab.PAIRS.length
    assert round(read, -3) == 333_000
    assert read < held_out["byte pairs to learn from"]


def test_a_high_temperature_breaks_words() -> None:
    table = plays()
    shares = {way: table[f"in the book, {way}"] for way in lab.CHOICES}
    hottest = shares.pop("temperature 2")
    assert hottest.round(2).between(0.46, 0.48).all()
    assert shares["temperature 1"].round(2).between(0.56, 0.58).all()
    assert shares["temperature 2, min-p 0.1"].round(2).between(0.50, 0.56).all()
    assert all((hottest < share).all() for share in shares.values())


def test_the_most_likely_goes_round_in_circles() -> None:
    table = plays()
    assert table["different words, the most likely token"].round(2).between(0.25, 0.37).all()
    assert table["different words, greedy, repetition penalty 1.3"].between(0.79, 0.83).all()


def test_the_first_words_help() -> None:
    table = plays()
    assert (table["bits per token after 1"] - table["bits per token after 2"]).between(0.18, 0.24).all()
    assert (table["bits per token after 2"] - table["bits per token after 4"]).between(0.08, 0.12).all()


def test_the_rest_helps_a_little() -> None:
    table = plays()
    gained = table["bits per token after 4"] - table["bits per token after 16"]
    assert gained.round(2).between(0.02, 0.05).all()
    assert (gained / table["gain from 4 to 16, standard error"]).between(3.5, 10.5).all()


def test_the_far_past_does_not() -> None:
    table = plays()
    assert (table["bits per token after 16"] - table["bits per token after 24"]).abs().max() < 0.02
    assert (table["bits per token after 32"] - table["bits per token after 16"]).between(0.03, 0.07).all()
