"""Lesson 1's data set: seeded, split cleanly, with baselines in the order that the lesson tells."""

import pytest
import torch

from course.tasks.curve import HIGH, LOW, baseline_losses, noisy_curve, shared_inputs


@pytest.mark.parametrize("seed", range(5))
def test_the_split_is_clean_and_the_baselines_are_in_order(seed: int) -> None:
    data = noisy_curve(seed)
    assert shared_inputs(data) == 0
    losses = baseline_losses(data)
    assert losses["true curve"] < losses["straight line"] < losses["mean"]
    for tensor in (data.train_inputs, data.test_inputs):
        assert tensor.dtype == torch.float32
        assert tensor.min() >= LOW
        assert tensor.max() <= HIGH


def test_the_same_seed_draws_the_same_points_and_another_draws_others() -> None:
    assert torch.equal(noisy_curve(3).train_targets, noisy_curve(3).train_targets)
    assert not torch.equal(noisy_curve(3).train_targets, noisy_curve(4).train_targets)


def test_drawing_data_leaves_the_global_random_state_alone() -> None:
    before = torch.get_rng_state()
    noisy_curve(0)
    assert torch.equal(before, torch.get_rng_state())


def test_an_overlap_would_be_counted() -> None:
    data = noisy_curve(0, test_points=24)
    data.test_inputs[:3] = data.train_inputs[:3]
    assert shared_inputs(data) == 3
