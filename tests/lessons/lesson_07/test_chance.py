"""Samplers are judged by their distribution: how seldom a right one is refused, and that a wrong one is."""

import numpy as np
import pytest
import torch

from transformer_course.lessons.lesson_07 import chance

RIGHT = torch.tensor([[0.5, 0.3, 0.15, 0.04, 0.01, 0.0], [0.2, 0.2, 0.2, 0.2, 0.1, 0.1]]).double()
DRAWS = 4000


def drawn(probabilities: torch.Tensor, times: int, seed: int) -> torch.Tensor:
    """Counts of `times` honest samplers, (times, rows, tokens)."""
    generator = np.random.default_rng(seed)
    rows = [
        torch.from_numpy(generator.multinomial(DRAWS, row / row.sum(), size=times)) for row in probabilities.numpy()
    ]
    return torch.stack(rows, dim=1).double()


def test_a_right_sampler_is_hardly_ever_refused() -> None:
    assert chance.FALSE_ALARM < 1e-8  # some dozens of cases, and far less than one in a million together
    counts = drawn(RIGHT, 4000, seed=1)
    assert all(chance.fits(count, RIGHT) for count in counts)


def test_the_chance_of_a_refusal_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """At levels far above the real one, where refusals can be counted."""
    counts = drawn(RIGHT, 10_000, seed=2)
    for level in (1e-2, 1e-3):
        monkeypatch.setattr(chance, "FALSE_ALARM", level)
        refused = sum(not chance.fits(count, RIGHT) for count in counts) / len(counts)
        assert 0.4 * level < refused < 2.5 * level


def test_a_wrong_distribution_is_refused() -> None:
    wrong = torch.softmax(RIGHT.clamp(min=1e-9).log() / 1.6, dim=-1) * (RIGHT > 0)
    assert chance.shows(RIGHT, [wrong], DRAWS)
    assert not any(chance.fits(count, RIGHT) for count in drawn(wrong, 200, seed=3))


def test_a_token_that_cannot_come_is_enough() -> None:
    counts = drawn(RIGHT, 1, seed=4)[0]
    counts[0, 0] -= 1
    counts[0, 5] += 1
    assert not chance.fits(counts, RIGHT)


def test_what_fits_no_distribution_keeps_its_own_shares() -> None:
    counts = torch.tensor([[4000.0, 0, 0, 0, 0, 0], [0.0, 4000, 0, 0, 0, 0]]).double()
    assert torch.equal(chance.settled(counts, [RIGHT]), counts / DRAWS)
    assert torch.equal(chance.settled(drawn(RIGHT, 1, seed=5)[0], [RIGHT]), RIGHT)
