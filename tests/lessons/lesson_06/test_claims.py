"""What lesson 6 says under "What you should see", measured again on two seeds.

What takes longer is measured by `long/`, which writes the lesson's tables; here they are read.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import nn

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.blocks import LearnedPositionalEmbedding
from transformer_course.lengths import TRAINED
from transformer_course.lessons.lesson_06 import experiments as lab
from transformer_course.lessons.tables import measured
from transformer_course.positions import (
    SinusoidalPositionalEncoding,
    relative_attention_scores,
    rotary_embedding,
    sees_order,
    shift_matrix,
    sinusoidal_positional_encoding,
)
from transformer_course.tasks import digit_operations, reversal

ORDERED, UNORDERED = ("first", "second", "last"), ("max", "min")


def waves() -> nn.Module:
    return SinusoidalPositionalEncoding(64, 4)


READERS: dict[str, tuple[Callable[[], nn.Module], int]] = {  # a model, and the steps that the lesson trains it for
    "none": (lambda: lab.Reader(nn.Identity()), 400),
    "causal mask, no positions": (lambda: lab.CausalReader(nn.Identity()), 800),
    "learned": (lambda: lab.Reader(LearnedPositionalEmbedding(4, 64)), 400),
    "sinusoidal": (lambda: lab.Reader(waves()), 400),
    "the colleague's": (lambda: lab.ColleaguesReader(waves()), 400),
}


@cache
def reader(name: str, seed: int) -> dict[str, float]:
    """{operation: accuracy} of one of the lesson's readers."""
    build, steps = READERS[name]
    return lab.by_operation(lab.seeded(build, seed), digit_operations.digit_operations(seed), steps=steps, seed=seed)


@cache
def by_scale(seed: int) -> dict[float, dict[str, float]]:
    return lab.by_scale(waves, [0.01, 1, 100], digit_operations.digit_operations(seed), seed=seed)


@cache
def your_waves(seed: int) -> dict[int, float]:
    letters = reversal.reversal_task(seed)
    model = lab.seeded(lambda: lab.writer(lambda: SinusoidalPositionalEncoding(64, 32)), seed)
    lab.train_writer(model, letters, steps=600, seed=seed)
    return lab.reversed_by_length(model, letters)


def ordered(shares: dict[str, float]) -> list[float]:
    return [shares[name] for name in ORDERED]


def unordered(shares: dict[str, float]) -> list[float]:
    return [shares[name] for name in UNORDERED]


def line(table: str, seed: int, name: str, column: str = "exact") -> dict[int, float]:
    rows = measured(table)
    rows = rows[(rows["seed"] == seed) & (rows["line"] == name)]
    assert len(rows)
    return dict(zip(rows["length"], rows[column], strict=True))


@both_seeds_later
def test_bag_finds_max_and_min(seed: int) -> None:
    assert min(unordered(reader("none", seed))) > 0.97


@both_seeds
def test_bag_misses_first(seed: int) -> None:
    shares = ordered(reader("none", seed))
    assert min(shares) >= 0.24
    assert max(shares) <= 0.42


@both_seeds
def test_other_orders_mislead(seed: int) -> None:
    data = digit_operations.digit_operations(seed)
    answers: dict[tuple[str, tuple[int, ...]], Counter[int]] = defaultdict(Counter)
    for operation, digits in data.train:
        answers[operation, tuple(sorted(digits))][digit_operations.answer((operation, digits))] += 1
    for operation in ("first", "second", "last"):
        asked = [(digits, answers[operation, tuple(sorted(digits))]) for name, digits in data.test if name == operation]
        right = [
            seen.most_common(1)[0][0] == digit_operations.answer((operation, digits)) for digits, seen in asked if seen
        ]
        assert sum(right) < 0.2 * len(asked)


@both_seeds
def test_orders_give_the_same_logits(seed: int) -> None:
    tokens, _ = digit_operations.tensors([("first", (4, 7, 9)), ("first", (9, 4, 7)), ("first", (7, 9, 4))])
    with torch.no_grad():
        blind = lab.seeded(lambda: lab.Reader(nn.Identity()), seed)(tokens)
        behind_mask = lab.seeded(lambda: lab.CausalReader(nn.Identity()), seed)(tokens)
    assert (blind - blind[0]).abs().max() < 1e-4  # whatever the weights
    assert (behind_mask - behind_mask[0]).abs().max() > 1e-2


@both_seeds_later
def test_a_causal_mask_shows_order(seed: int) -> None:
    assert min(reader("causal mask, no positions", seed).values()) > 0.98


@both_seeds
def test_equal_steps(seed: int) -> None:
    waves = sinusoidal_positional_encoding(64, 32)
    for lengths in ((waves[1:] - waves[:-1]).norm(dim=1), waves.norm(dim=1)):
        assert lengths.max() - lengths.min() < 1e-4


@both_seeds
def test_dot_products_know_distance(seed: int) -> None:
    waves = sinusoidal_positional_encoding(64, 32)
    alike = torch.stack([waves[start : start + 40] @ waves[start] for start in (0, 10, 20)])
    assert (alike - alike[0]).abs().max() < 1e-4


@both_seeds
def test_neighbours_are_alike(seed: int) -> None:
    waves = sinusoidal_positional_encoding(64, 32)
    alike = (waves[:40] @ waves[0]).tolist()
    assert alike[0] > alike[1] > alike[2] > alike[3]
    assert alike[0] == max(alike)


@both_seeds
def test_a_shift_is_a_matrix(seed: int) -> None:
    assert lab.shift_error(sinusoidal_positional_encoding(200, 64), 3) < 1e-5


@both_seeds
def test_sines_alone_cannot_shift(seed: int) -> None:
    assert lab.shift_error(sinusoidal_positional_encoding(200, 64)[:, 0::2], 3) == pytest.approx(0.42, abs=0.01)
    assert lab.shift_error(lab.naive_encodings(200)["binary digits"], 3) == pytest.approx(0.56, abs=0.01)


@both_seeds_later
def test_positions_find_first(seed: int) -> None:
    for kind in ("learned", "sinusoidal"):
        assert min(reader(kind, seed).values()) > 0.95


@both_seeds_later
def test_too_quiet(seed: int) -> None:
    shares = by_scale(seed)[0.01]
    assert shares["max, min"] > 0.95
    assert shares["first, second, last"] < 0.5


@both_seeds_later
def test_as_loud_as_tokens(seed: int) -> None:
    assert min(by_scale(seed)[1].values()) > 0.95


@both_seeds_later
def test_too_loud(seed: int) -> None:
    assert max(by_scale(seed)[100].values()) < 0.8


@both_seeds
def test_rotary_is_a_shift(seed: int) -> None:
    torch.manual_seed(seed)
    vectors = torch.randn(1, 20, 32)
    turned = rotary_embedding(vectors, torch.full((20,), 7))
    assert (turned - vectors @ shift_matrix(-7, 32).T).abs().max() < 1e-5


@both_seeds
def test_turns_keep_lengths(seed: int) -> None:
    torch.manual_seed(seed)
    vectors = torch.randn(1, 20, 32)
    turned = rotary_embedding(vectors, torch.full((20,), 7))
    assert (turned.norm(dim=-1) - vectors.norm(dim=-1)).abs().max() < 1e-5


@both_seeds
def test_rotary_layouts_are_permutations(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    words = torch.randn(6, 16, generator=generator)
    to_query, to_key = torch.randn(2, 16, 16, generator=generator) / 4
    order = torch.cat([torch.arange(0, 16, 2), torch.arange(1, 16, 2)])
    places = torch.arange(6)

    def scores(rotary: lab.Rotary, rows: torch.Tensor) -> torch.Tensor:
        return rotary(words @ to_query[rows].T, places) @ rotary(words @ to_key[rows].T, places).T

    usual = scores(rotary_embedding, torch.arange(16))
    assert (scores(lab.rotary_halves, order) - usual).abs().max() < 1e-4
    assert (scores(lab.rotary_halves, torch.arange(16)) - usual).abs().max() > 1


@both_seeds
def test_scores_know_distance(seed: int) -> None:
    torch.manual_seed(seed)
    query, key = torch.randn(16).expand(8, 16), torch.randn(16).expand(8, 16)
    near = relative_attention_scores(query, key, torch.arange(8))
    far = relative_attention_scores(query, key, torch.arange(100, 108))
    assert (near - far).abs().max() < 1e-3


@both_seeds_later
def test_your_waves(seed: int) -> None:
    shares = your_waves(seed)
    assert shares[5] >= 0.9
    assert shares[12] < 0.05


@both_seeds_later
def test_lost_positions_look_like_none(seed: int) -> None:
    shares = reader("the colleague's", seed)
    assert max(ordered(shares)) < 0.45
    assert min(unordered(shares)) > 0.97


@both_seeds
def test_who_sees_order(seed: int) -> None:
    rows, _ = digit_operations.tensors(digit_operations.digit_operations(seed).test[:8])
    blind = (lambda: lab.Reader(nn.Identity()), lambda: lab.ColleaguesReader(SinusoidalPositionalEncoding(64, 4)))
    seeing = (
        lambda: lab.CausalReader(nn.Identity()),
        lambda: lab.Reader(LearnedPositionalEmbedding(4, 64)),
        lambda: lab.Reader(SinusoidalPositionalEncoding(64, 4)),
        lambda: lab.rotary_reader(rotary_embedding),
    )
    assert not any(sees_order(lab.seeded(build, seed), rows) for build in blind)
    assert all(sees_order(lab.seeded(build, seed), rows) for build in seeing)


# --- from the tables that `make claims` writes


@both_seeds
def test_all_but_none_learn(seed: int) -> None:
    for kind, least in (("learned", 1.0), ("sinusoidal", 1.0), ("rotary", 0.94)):
        shares = line("06_lengths", seed, kind)
        assert min(share for length, share in shares.items() if length <= TRAINED[1]) >= least, (kind, shares)
    assert max(line("06_lengths", seed, "none").values()) <= 0.11


@both_seeds
def test_one_letter_beyond(seed: int) -> None:
    assert line("06_lengths", seed, "learned")[11] == 0
    assert 0.27 <= line("06_lengths", seed, "sinusoidal")[11] <= 0.29
    assert 0.71 <= line("06_lengths", seed, "rotary")[11] <= 0.88
    assert line("06_lengths", seed, "sinusoidal")[12] == 0


@both_seeds
def test_nobody_reaches_thirteen(seed: int) -> None:
    for kind in ("none", "learned", "sinusoidal", "rotary"):
        assert max(line("06_lengths", seed, kind)[length] for length in (13, 14)) <= 0.03


@both_seeds
def test_fifty_digits(seed: int) -> None:
    shares = line("06_by_place", seed, "by place, window 2")
    assert min(shares[length] for length in (5, 6, 7, 8, 10, 20)) >= 0.99
    assert 0.98 <= shares[50] <= 0.995


@both_seeds
def test_long_carries_too(seed: int) -> None:
    assert min(line("06_by_place", seed, "by place, window 2", "long_carries").values()) >= 0.985


@both_seeds
def test_the_window_matters(seed: int) -> None:
    for name in ("by place, no window", "usual positions"):
        shares = line("06_by_place", seed, name)
        assert shares[5] == 1
        assert max(shares[length] for length in (7, 8, 10, 20, 50)) == 0
