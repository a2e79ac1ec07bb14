"""What lesson 17 says under "What you should see", measured again."""

from functools import cache

import pandas as pd
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.fast_answers.speculative import accept_or_replace, expected_tokens
from transformer_course.lessons.lesson_12.experiments.stories import counted_surprise, some_stories
from transformer_course.lessons.lesson_17 import experiments as lab


@cache
def counted(before: int, seed: int) -> lab.Counts:
    return lab.counted(before, seed=seed)


@cache
def acceptance(before: int, seed: int) -> float:
    return lab.acceptance(counted(before, seed), seed=1 + seed)


@both_seeds
def test_how_often_counts_are_accepted(seed: int) -> None:
    assert 0.765 < acceptance(3, seed) < 0.795
    assert 0.325 < acceptance(1, seed) < 0.355
    assert 0.015 < acceptance(0, seed) < 0.025


@both_seeds
def test_a_fourth_token_adds_little(seed: int) -> None:
    assert 0.005 < acceptance(4, seed) - acceptance(3, seed) < 0.025


@both_seeds_later
def test_counts_beat_a_small_network(seed: int) -> None:
    run = lab.small_teller(seed=seed)
    assert sum(weights.numel() for weights in run.model.parameters()) < 811_776 / 10
    assert 0.605 < lab.acceptance(run.model, seed=1 + seed) < 0.65
    assert lab.acceptance(run.model, seed=1 + seed) < acceptance(2, seed)


@both_seeds
def test_the_rule_is_exact(seed: int) -> None:
    """With the control: the draft's own tokens are off, and so are those of wrong rules."""
    p, q, animals = lab.next_words(counted(3, seed), lab.MET_A)
    generator = torch.Generator().manual_seed(seed)
    proposed = torch.multinomial(q, 50_000, replacement=True, generator=generator)
    tokens, accepted = accept_or_replace(p.expand(50_000, -1), q.expand(50_000, -1), proposed, generator)
    assert (lab.frequencies(tokens, len(p)) - p).abs().max() < 0.008
    assert (lab.frequencies(proposed, len(p)) - p).abs().max() > 0.03
    assert abs(accepted.double().mean() - torch.minimum(p, q).sum()) < 0.01
    again = torch.where(accepted, proposed, torch.multinomial(p, 50_000, replacement=True, generator=generator))
    assert (lab.frequencies(again, len(p)) - p).abs().max() > 0.008  # replaced from the target: not exact
    assert p[list(animals.values())].sum() > 0.97
    assert len({"bear", "frog", "mouse", "fox"} & set(animals)) == 4


@cache
def tokens_a_pass(before: int, seed: int) -> float:
    return lab.speculated(counted(before, seed), 4, seed=seed)[0]


@both_seeds_later
def test_a_third_of_the_passes(seed: int) -> None:
    assert 2.7 < tokens_a_pass(3, seed) < 3.1
    assert 1.35 < tokens_a_pass(1, seed) < 1.65


@both_seeds_later
def test_the_formula_is_close(seed: int) -> None:
    off = {before: expected_tokens(acceptance(before, seed), 4) / tokens_a_pass(before, seed) - 1 for before in (1, 3)}
    assert abs(off[1]) < 0.2
    assert 0.045 < off[3] < 0.175


@cache
def by_bits(seed: int) -> "pd.Series[float]":
    """Bits per character, by the number of bits and what has a scale."""
    table = lab.by_bits(all_bits=(8, 4, 3, 2), stories=5, seed=1 + seed)
    return table.set_index(["bits", "a scale for each"])["bits per character"]


@both_seeds
def test_four_bits_cost_little(seed: int) -> None:
    bits_per_character = by_bits(seed)
    for bits in (8, 4):
        for scale in ("row", "32 weights"):
            assert bits_per_character[bits, scale] < bits_per_character[16, "-"] + 0.004


@both_seeds
def test_three_bits_cost_more(seed: int) -> None:
    assert 0.12 < by_bits(seed)[3, "row"] < 0.15
    assert 0.085 < by_bits(seed)[3, "32 weights"] < 0.12
    assert by_bits(seed)[3, "row"] > 1.4 * by_bits(seed)[16, "-"]


@both_seeds
def test_two_bits_are_too_few(seed: int) -> None:
    """With the control: counts after four tokens, from as many stories as the drafts."""
    least = min(by_bits(seed)[2, "row"], by_bits(seed)[2, "32 weights"])
    words = lab.target_and_words()[1]
    counted = counted_surprise(words, some_stories(500, 1000 + seed), some_stories(5, 1 + seed), before=4)
    assert least > 1.5
    assert least > 2 * counted


@both_seeds
def test_it_is_its_own_draft(seed: int) -> None:
    target = lab.target_and_words()[0]
    rates = [lab.acceptance(lab.in_few_bits(target, 4, group), stories=3, seed=1 + seed) for group in (None, 32)]
    assert all(0.975 < rate < 0.995 for rate in rates)


SOME = range(12)
"""Seeds for what costs next to nothing: one crowd of sixty readers is much unlike another."""


def test_joining_saves_passes() -> None:
    for seed in SOME:
        lengths = lab.lengths_asked(60, seed)
        assert 0.34 < 1 - lab.passes(lengths, 8)[0] / lab.batch_by_batch(lengths, 8)[0] < 0.49


def test_little_to_save_where_lengths_are_known() -> None:
    for seed in SOME:
        lengths = lab.lengths_asked(60, seed)
        assert 0.07 < 1 - lab.passes(lengths, 8)[0] / lab.batch_by_batch(sorted(lengths), 8)[0] < 0.185


@both_seeds
def test_nothing_to_save_where_all_are_alike(seed: int) -> None:
    alike = [lab.lengths_of_stories(1, 1 + seed)[0]] * 60
    assert lab.passes(alike, 8)[0] == lab.batch_by_batch(alike, 8)[0]


def test_blocks_waste_little() -> None:
    for seed in SOME:
        lengths = lab.lengths_asked(60, seed)
        needed, in_blocks, reserved = lab.blocks_needed(lengths, 16)["tokens"]
        assert 0.95 < needed / in_blocks < 0.975
        assert 0.36 < needed / reserved < 0.485
        assert 6.5 < (in_blocks - needed) / 60 < 9  # half a block a text


@both_seeds_later
def test_the_same_stories_together(seed: int) -> None:
    together, passes, _ = lab.told_together(6, 3, seed=seed)
    alone, passes_alone, _ = lab.told_together(6, 1, seed=seed)
    assert together == alone
    assert len(set(together)) == 6
    assert passes < passes_alone / 2
