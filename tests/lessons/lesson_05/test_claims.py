"""What lesson 5 says under "What you should see", measured again on two seeds."""

from functools import cache

import pandas as pd
import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.causal import CausalSeq2SeqTransformer, causal_mask, decoder_mask, future_leak
from transformer_course.lengths import exact_by_length
from transformer_course.lessons.lesson_05 import experiments as lab
from transformer_course.lessons.tables import measured
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import generate, predict
from transformer_course.sequences import exact_match, shift_right
from transformer_course.tasks import addition, reversal

Tensors = tuple[torch.Tensor, torch.Tensor]
Scores = dict[str, list[float]]
START, END = reversal.START_ID, reversal.END_ID
HIGHEST = reversal.ALPHABET.size - 1


def fresh_model(kind: type[Seq2SeqTransformer], seed: int) -> Seq2SeqTransformer:
    torch.manual_seed(seed)
    return kind(reversal.VOCAB_SIZE, max_length=16, d_model=64, num_heads=4, d_ff=128, num_layers=1)


@cache
def letters(seed: int) -> tuple[reversal.ReversalData, Tensors, Tensors]:
    """The lesson's letters; of the test rows 200, since to write is slow."""
    data = reversal.reversal_task(seed, test=200)
    return data, reversal.tensors(data.train, 10, 11), reversal.tensors(data.test, 10, 11)


@cache
def trained(kind: type[Seq2SeqTransformer], seed: int) -> tuple[Seq2SeqTransformer, lab.Record]:
    """The model and what was seen of it every 100 steps: 300 steps without a mask, 600 with it."""
    _, train, test = letters(seed)
    model = fresh_model(kind, seed)
    steps = 600 if kind is CausalSeq2SeqTransformer else 300
    return model, lab.watched(model, train, test, steps=steps, every=100)


def open_model(seed: int) -> Seq2SeqTransformer:
    return trained(Seq2SeqTransformer, seed)[0]


def causal_model(seed: int) -> Seq2SeqTransformer:
    return trained(CausalSeq2SeqTransformer, seed)[0]


def a_few(seed: int) -> Tensors:
    source, target = letters(seed)[2]
    return source[:50], shift_right(target[:50], START)


@cache
def alone_by_length(seed: int) -> dict[int, float]:
    model = causal_model(seed)

    def answer(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return generate(model, source, start_id=START, end_id=END, max_length=target.shape[1])

    return exact_by_length(answer, exact_match, exclude=letters(seed)[0].train, seed=seed)


@cache
def by_order(seed: int) -> dict[str, Scores]:
    orders = {
        "last": addition.Writing(least_first=True, width=lab.DIGITS),
        "first": addition.Writing(least_first=False, width=lab.DIGITS),
    }
    return lab.by_digit_order(CausalSeq2SeqTransformer, orders, seed=seed, steps=1000, every=500)


@cache
def last_step(seed: int, order: str) -> pd.Series:
    table = measured("05_digit_order")
    chosen = (table["step"] == table["step"].max()) & (table["seed"] == seed) & (table["order"] == order)
    assert chosen.sum() == 1
    return table[chosen].iloc[0]


@both_seeds
def test_the_curves_part(seed: int) -> None:
    scores = trained(Seq2SeqTransformer, seed)[1].scores
    assert scores["with a teacher"][-1] > 0.99
    assert max(scores["on its own"]) < 0.02


@both_seeds
def test_asked_something_else(seed: int) -> None:
    source, target = letters(seed)[2]
    others = torch.randperm(len(source), generator=torch.Generator().manual_seed(0))
    logits = predict(open_model(seed), source[others], target, start_id=START)
    assert 0.87 < exact_match(logits.argmax(-1), target) < 0.98


@both_seeds
def test_it_reads_the_answer(seed: int) -> None:
    data, _, (source, target) = letters(seed)
    right = places = 0
    for row in [place for place, text in enumerate(data.test) if len(text) >= 4][:12]:
        length = len(data.test[row]) + 1
        shown = shift_right(target[row : row + 1, :length], START)
        moved = lab.nudges(open_model(seed), source[row : row + 1], shown, HIGHEST)
        right += int((moved[:-1].argmax(dim=1) == torch.arange(1, length)).sum())
        places += length - 1
    assert right > 0.95 * places


@both_seeds
def test_training_widens_the_hole(seed: int) -> None:
    before = future_leak(lab.in_probabilities(fresh_model(Seq2SeqTransformer, seed)), *a_few(seed))
    after = future_leak(lab.in_probabilities(open_model(seed)), *a_few(seed))
    assert 0.005 < before < 0.015
    assert after > 0.99


def under_a_triangle(seed: int, source: torch.Tensor, shown: torch.Tensor) -> torch.Tensor:
    return open_model(seed)(source, shown, causal_mask(shown.shape[1]))


@both_seeds
def test_the_triangle_closes_it(seed: int) -> None:
    assert future_leak(lambda source, shown: under_a_triangle(seed, source, shown), *a_few(seed)) == 0


@both_seeds
def test_nothing_else_was_learnt(seed: int) -> None:
    assert lab.share_right(lambda source, shown: under_a_triangle(seed, source, shown), *letters(seed)[2]) < 0.05


@both_seeds
def test_padding_is_in_the_future(seed: int) -> None:
    model, (source, shown) = fresh_model(Seq2SeqTransformer, seed), a_few(seed)
    apart = model(source, shown, decoder_mask(shown)) - model(source, shown, causal_mask(shown.shape[1]))
    assert apart[letters(seed)[2][1][:50] != 0].abs().max() < 1e-5


@both_seeds_later
def test_no_leak_is_left(seed: int) -> None:
    for model in (fresh_model(CausalSeq2SeqTransformer, seed), causal_model(seed)):
        assert future_leak(model, *a_few(seed)) == 0


@both_seeds_later
def test_the_curves_meet(seed: int) -> None:
    scores = trained(CausalSeq2SeqTransformer, seed)[1].scores
    pairs = zip(scores["with a teacher"], scores["on its own"], strict=True)
    assert max(abs(taught - alone) for taught, alone in pairs) < 0.005


@both_seeds_later
def test_it_writes(seed: int) -> None:
    assert trained(CausalSeq2SeqTransformer, seed)[1].scores["on its own"][-1] > 0.97


@both_seeds_later
def test_honest_work_takes_longer(seed: int) -> None:
    assert trained(Seq2SeqTransformer, seed)[1].scores["with a teacher"][1] > 0.99
    assert trained(CausalSeq2SeqTransformer, seed)[1].scores["with a teacher"][1] < 0.80


@both_seeds_later
def test_tokens_after_a_mistake(seed: int) -> None:
    scores = trained(CausalSeq2SeqTransformer, seed)[1].scores
    assert scores["after a mistake, with a teacher"][1] > 0.90
    assert 0.38 < scores["after a mistake, on its own"][1] < 0.59


@both_seeds_later
def test_the_encoder_speaks(seed: int) -> None:
    assert lab.moved_by_another_source(open_model(seed), *letters(seed)[2]) < 0.05
    assert lab.moved_by_another_source(causal_model(seed), *letters(seed)[2]) > 0.50


def found_share(surest: tuple[float, torch.Tensor] | None) -> float:
    return surest[0]


@both_seeds_later
def test_both_look_right(seed: int) -> None:
    data, _, test = letters(seed)
    copier, masked = (
        found_share(lab.surest_map(model, data.test, test, START)) for model in (open_model(seed), causal_model(seed))
    )
    assert copier > masked > 0.45


@both_seeds_later
def test_alone_inside_the_range(seed: int) -> None:
    assert all(alone_by_length(seed)[length] >= 0.90 for length in range(4, 11))


@both_seeds_later
def test_alone_beyond_the_range(seed: int) -> None:
    assert all(alone_by_length(seed)[length] < 0.05 for length in range(11, 15))


@both_seeds
def test_three_masks_leak(seed: int) -> None:
    model = fresh_model(Seq2SeqTransformer, seed)

    def leak(mask_of: object) -> float:
        return future_leak(lambda source, shown: model(source, shown, mask_of(shown)), *a_few(seed))

    def steps(shown: torch.Tensor) -> torch.Tensor:
        return torch.arange(shown.shape[1])

    assert leak(lambda shown: causal_mask(shown.shape[1]).T) > 0
    assert leak(lambda shown: steps(shown) <= steps(shown)[:, None] + 1) > 0
    ends = lambda shown: (shown == END)[:, None, None, :]  # noqa: E731
    assert leak(lambda shown: causal_mask(shown.shape[1]) | ends(shown)) > 0
    assert leak(lambda shown: steps(shown)[:, None] > steps(shown)) == 0
    assert leak(decoder_mask) == 0


@both_seeds
def test_the_residual_stream_carries_it(seed: int) -> None:
    model, (source, shown) = fresh_model(Seq2SeqTransformer, seed), a_few(seed)
    before = torch.ones(shown.shape[1], shown.shape[1], dtype=torch.bool).tril(-1)
    moved = lab.nudges(lambda source, shown: model(source, shown, before), source[:1], shown[:1], HIGHEST)
    assert (moved.diagonal() > 0).all()
    assert moved.triu(1).max() == 0


@both_seeds
def test_the_shortcut_is_exposed(seed: int) -> None:
    for draw in range(6 * seed, 6 * seed + 6):
        pairs = lab.digit_order_pairs(draw)
        shares = {name: addition.baseline_exact(pairs[name])["carry from the neighbour only"] for name in pairs}
        assert 0.755 <= shares["random sums"] <= 0.865
        assert shares["long carries"] == 0


@both_seeds_later
def test_last_digit_first_learns(seed: int) -> None:
    assert all(shares[-1] > 0.95 for shares in by_order(seed)["last"].values())


@both_seeds_later
def test_first_digit_first_does_not(seed: int) -> None:
    assert by_order(seed)["first"]["random sums"][-1] > 0.75
    assert by_order(seed)["first"]["long carries"][-1] < 0.45


@both_seeds
def test_table_last_digit_first(seed: int) -> None:
    row = last_step(seed, "last digit first")
    assert min(row["random_sums"], row["long_carries"]) > 0.97


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_table_first_digit_first(seed: int) -> None:
    row = last_step(seed, "first digit first")
    assert 0.9 < row["random_sums"] < 0.995
    assert 0.25 < row["long_carries"] < 0.5


@both_seeds
def test_many_sums_do_not_help(seed: int) -> None:
    row = measured("05_many_sums").set_index("seed").loc[seed]
    assert 0.985 < row["random_sums"] < 0.995
    assert 0.345 < row["long_carries"] < 0.365


def test_it_bets() -> None:
    both = measured("05_many_sums").set_index("seed")["both_right"]
    assert [round(100 * both[seed]) for seed in (0, 1)] == [13, 6]
