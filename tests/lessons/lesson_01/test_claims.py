"""What lesson 1 says under "What you should see", measured again on two seeds."""

from functools import cache

import pytest
import torch

from course.mlp import MLP, l2_penalty, loss_gradients, mlp_predict, mse_loss
from course.mlp_numpy import mlp_predict_numpy
from course.tasks.curve import CurveData, baseline_losses, grid, noisy_curve, shared_inputs, true_curve
from course.timing import try_to_compile
from course.training import sgd_step, train
from lessons.lesson_01 import experiments as lab

both_seeds = pytest.mark.parametrize("seed", [0, 1])
SIZES = [1, 32, 32, 1]
Params = list[tuple[torch.Tensor, torch.Tensor]]


def start_of(seed: int) -> Params:
    return lab.random_params(SIZES, seed)


def model_of(seed: int) -> MLP:
    model = MLP(SIZES)
    lab.copy_into(model, start_of(seed))
    return model


def mean_on_training(data: CurveData) -> float:
    return data.train_targets.var(unbiased=False).item()


@cache
def by_hand(seed: int, learning_rate: float, steps: int) -> tuple[Params, list[float]]:
    batch = noisy_curve(seed).train
    return lab.descend(mse_loss, loss_gradients, sgd_step, start_of(seed), batch, learning_rate, steps)


@cache
def by_depth(seed: int) -> dict[int, tuple[float, float]]:
    return lab.by_depth(MLP, train, [0, 1, 8], seeds=five(seed))


@cache
def by_decay(seed: int) -> dict[float, tuple[float, float]]:
    return lab.by_weight_decay(MLP, train, [0, 0.01, 0.3], seeds=five(seed))


def five(seed: int) -> range:
    """Five data sets: the lesson's own for seed 0, five others for seed 1."""
    return range(5 * seed, 5 * seed + 5)


@cache
def broken_run(seed: int) -> tuple[list[float], torch.Tensor]:
    data = noisy_curve(seed)
    model = model_of(seed)

    def suspicious(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return ((predictions - targets) ** 2).mean()

    losses = lab.fit_with(suspicious, model, data.train_inputs, data.train_targets.squeeze(1))
    return losses, model(data.train_inputs).detach()


@both_seeds
def test_baselines_cost(seed: int) -> None:
    losses = baseline_losses(noisy_curve(seed))
    assert 0.55 < losses["mean"] < 0.85
    assert 0.5 < losses["straight line"] < 0.7


@both_seeds
def test_noise_remains(seed: int) -> None:
    assert 0.12 < baseline_losses(noisy_curve(seed))["true curve"] < 0.2


@both_seeds
def test_no_overlap(seed: int) -> None:
    data = noisy_curve(seed)
    assert len(data.test_inputs) == 500
    assert shared_inputs(data) == 0


@both_seeds
def test_numpy_and_torch_agree(seed: int) -> None:
    start, many = start_of(seed), grid(1000)
    arrays = [(W.numpy(), b.numpy()) for W, b in start]
    in_numpy = torch.from_numpy(mlp_predict_numpy(arrays, many.numpy()))
    assert (mlp_predict(start, many) - in_numpy).abs().max() < 1e-5


@both_seeds
def test_compiled_agrees(seed: int) -> None:
    start, many = start_of(seed), grid(1000)
    compiled, _, problem = try_to_compile(mlp_predict, start, many)
    if compiled is None:
        pytest.skip(problem)
    assert (compiled(start, many) - mlp_predict(start, many)).abs().max() < 1e-5


@both_seeds
def test_slopes_agree(seed: int) -> None:
    exact = [(W.double(), b.double()) for W, b in start_of(seed)]
    inputs, targets = noisy_curve(seed).train
    batch = (inputs.double(), targets.double())
    slopes = loss_gradients(exact, batch)
    for layer, place in [(0, (0, 3)), (1, (5, 7)), (2, (5, 0))]:
        nudged = [(W.clone(), b) for W, b in exact]
        nudged[layer][0][place] += 1e-6
        by_nudging = (mse_loss(nudged, batch) - mse_loss(exact, batch)).item() / 1e-6
        by_autograd = slopes[layer][0][place].item()
        assert by_autograd != 0
        assert abs(by_autograd - by_nudging) < 1e-4


@both_seeds
def test_by_hand_beats_the_line(seed: int) -> None:
    data = noisy_curve(seed)
    params, _ = by_hand(seed, 0.05, 2000)
    assert mse_loss(params, data.test).item() < baseline_losses(data)["straight line"] * 2 / 3


@both_seeds
def test_right_rate(seed: int) -> None:
    assert by_hand(seed, 0.1, 1000)[1][-1] < 0.25


@both_seeds
def test_small_rate(seed: int) -> None:
    assert by_hand(seed, 0.001, 1000)[1][-1] > 2 * by_hand(seed, 0.1, 1000)[1][-1]


@both_seeds
def test_large_rate(seed: int) -> None:
    last = by_hand(seed, 1.0, 1000)[1][-1]
    assert not last <= mean_on_training(noisy_curve(seed))  # `not <=`, since it may be no number


@both_seeds
def test_it_memorises(seed: int) -> None:
    data = noisy_curve(seed)
    params, losses = by_hand(seed, 0.05, 2000)
    truth_on_training = ((true_curve(data.train_inputs) - data.train_targets) ** 2).mean().item()
    assert losses[-1] < 0.9 * truth_on_training
    assert mse_loss(params, data.test).item() > 1.1 * baseline_losses(data)["true curve"]


@both_seeds
def test_weights_grow(seed: int) -> None:
    params, _ = by_hand(seed, 0.05, 2000)
    assert l2_penalty(params) > 1.2 * l2_penalty(start_of(seed))


@both_seeds
def test_three_ways_agree(seed: int) -> None:
    inputs, targets = noisy_curve(seed).train
    with_sgd = model_of(seed)
    by_sgd = train(with_sgd, inputs, targets, torch.optim.SGD(with_sgd.parameters(), lr=0.05), 200)
    by_backward, model = [], model_of(seed)
    for _ in range(200):
        error = torch.nn.functional.mse_loss(model(inputs), targets)
        model.zero_grad()
        error.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.05 * parameter.grad
        by_backward.append(error.item())
    three = zip(by_hand(seed, 0.05, 2000)[1][:200], by_backward, by_sgd, strict=True)
    assert max(max(losses) - min(losses) for losses in three) < 0.001


@both_seeds
def test_adam_is_ahead(seed: int) -> None:
    model = model_of(seed)
    adam = train(model, *noisy_curve(seed).train, torch.optim.Adam(model.parameters(), lr=0.01), 300)
    assert adam[-1] < 0.6 * by_hand(seed, 0.05, 2000)[1][299]


@both_seeds
def test_depth_zero_is_a_line(seed: int) -> None:
    lines = [baseline_losses(noisy_curve(data_seed))["straight line"] for data_seed in five(seed)]
    assert by_depth(seed)[0][1] == pytest.approx(sum(lines) / len(lines), rel=0.05)


@both_seeds
def test_one_layer_helps(seed: int) -> None:
    assert by_depth(seed)[1][1] < 0.6 * by_depth(seed)[0][1]


@both_seeds
def test_depth_memorises(seed: int) -> None:
    (shallow_train, shallow_test), (deep_train, deep_test) = by_depth(seed)[1], by_depth(seed)[8]
    assert deep_train < shallow_train / 3
    assert deep_test > shallow_test


@both_seeds
def test_factor_two(seed: int) -> None:
    batch, price = noisy_curve(seed).train, 0.01
    priced = lab.penalised_losses(model_of(seed), l2_penalty, batch, price, learning_rate=0.05, steps=300)
    gaps = {}
    for factor in (1, 2):
        model = model_of(seed)
        decayed = train(model, *batch, lab.decayed_sgd(model, factor * price, learning_rate=0.05), 300)
        gaps[factor] = max(abs(a - b) for a, b in zip(priced, decayed, strict=True))
    assert gaps[2] < 1e-4
    assert gaps[1] > 1e-3


@both_seeds
def test_decay_helps(seed: int) -> None:
    (train_without, test_without), (train_with, test_with) = by_decay(seed)[0], by_decay(seed)[0.01]
    assert train_with > train_without
    assert test_with < 0.96 * test_without


@both_seeds
def test_too_much_decay(seed: int) -> None:
    means = [baseline_losses(noisy_curve(data_seed))["mean"] for data_seed in five(seed)]
    assert by_decay(seed)[0.3][1] == pytest.approx(sum(means) / len(means), rel=0.1)


@both_seeds
def test_broken_loss_ends_at_the_mean(seed: int) -> None:
    assert broken_run(seed)[0][-1] == pytest.approx(mean_on_training(noisy_curve(seed)), rel=0.01)


@both_seeds
def test_broken_predictions_are_flat(seed: int) -> None:
    assert broken_run(seed)[1].std() < 0.05
    assert noisy_curve(seed).train_targets.std() > 0.6


@both_seeds
def test_the_repair_works(seed: int) -> None:
    data = noisy_curve(seed)

    def repaired(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return ((predictions.reshape(targets.shape) - targets) ** 2).mean()

    losses = lab.fit_with(repaired, model_of(seed), data.train_inputs, data.train_targets.squeeze(1))
    assert losses[-1] < broken_run(seed)[0][-1] / 2
