"""`sgd_step`, `train` and the bug clinic's test."""

import math
import warnings
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course.training import loss_is_sound, sgd_step, train


def test_sgd_step_moves_against_the_gradient_and_leaves_the_old_parameters() -> None:
    params = [(torch.randn(2, 3, requires_grad=True), torch.randn(3)), (torch.randn(3, 1), torch.randn(1))]
    gradients = [(torch.randn_like(W), torch.randn_like(b)) for W, b in params]
    before = [(W.detach().clone(), b.clone()) for W, b in params]
    stepped = sgd_step(params, gradients, 0.5)
    assert stepped is not params
    for (W, b), (old_W, old_b), (dW, db), (kept_W, kept_b) in zip(stepped, before, gradients, params, strict=True):
        torch.testing.assert_close(W, old_W - 0.5 * dW)
        torch.testing.assert_close(b, old_b - 0.5 * db)
        assert torch.equal(kept_W, old_W)
        assert torch.equal(kept_b, old_b)
        assert not W.requires_grad
        assert W.grad_fn is None
    assert params[0][0].requires_grad


def test_sgd_step_keeps_float64() -> None:
    pair = (torch.ones(1, 1, dtype=torch.float64), torch.ones(1, dtype=torch.float64))
    assert all(tensor.dtype == torch.float64 for tensor in sgd_step([pair], [pair], 0.1)[0])


@pytest.mark.parametrize("n", [1, 7])
def test_train_is_the_usual_loop(n: int) -> None:
    torch.manual_seed(0)
    inputs, targets = torch.randn(n, 2), torch.randn(n, 3)
    model, twin = nn.Linear(2, 3), nn.Linear(2, 3)
    twin.load_state_dict(model.state_dict())
    losses = train(model, inputs, targets, torch.optim.SGD(model.parameters(), lr=0.1), 5)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    for loss in losses:
        expected = F.mse_loss(twin(inputs), targets)
        assert isinstance(loss, float)
        assert loss == pytest.approx(expected.item(), rel=1e-5)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
    torch.testing.assert_close(model.weight, twin.weight)


def test_train_forgets_gradients_from_before_and_may_take_no_step() -> None:
    torch.manual_seed(0)
    inputs, targets = torch.randn(4, 1), torch.randn(4, 1)
    model, twin = nn.Linear(1, 1), nn.Linear(1, 1)
    twin.load_state_dict(model.state_dict())
    model(inputs).sum().backward()  # a leftover
    train(model, inputs, targets, torch.optim.SGD(model.parameters(), lr=0.1), 1)
    train(twin, inputs, targets, torch.optim.SGD(twin.parameters(), lr=0.1), 1)
    torch.testing.assert_close(model.weight, twin.weight)
    assert train(model, inputs, targets, torch.optim.SGD(model.parameters(), lr=0.1), 0) == []


Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor | float]


# Losses made of `predictions - targets`: each broadcasts where the shapes invite it to.
KINDS: dict[str, Loss] = {
    "square": lambda p, t: ((p - t) ** 2).mean(),
    "sum of squares": lambda p, t: ((p - t) ** 2).sum(),
    "root": lambda p, t: ((p - t) ** 2).mean().sqrt(),
    "absolute": lambda p, t: (p - t).abs().mean(),
    "absolute, a Python float": lambda p, t: (p - t).abs().mean().item(),
    "largest": lambda p, t: (p - t).abs().max(),
    "smallest": lambda p, t: (p - t).abs().min(),
    "median": lambda p, t: (p - t).abs().median(),
    "log-cosh": lambda p, t: (p - t).cosh().log().mean(),
    "relative": lambda p, t: ((p - t) / t).abs().mean(),
    "logarithmic": lambda p, t: ((p.log() - t.log()) ** 2).mean(),
    "quantile": lambda p, t: torch.maximum(0.9 * (t - p), 0.1 * (p - t)).mean(),
    "ignores small errors": lambda p, t: ((p - t).abs() - 0.15).clamp(min=0).mean(),
    "within a half": lambda p, t: ((p - t).abs() > 0.5).float().mean(),
    "exact": lambda p, t: (p != t).float().mean(),
    "cross-entropy": lambda p, t: -(t * p.log() + (1 - t) * (1 - p).log()).mean(),
    "hinge": lambda p, t: (1 - t * p).clamp(min=0).mean(),
    "same side": lambda p, t: ((p > 0.5) != (t > 0.5)).float().mean(),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_clinic_finds_each_broadcast(name: str) -> None:
    assert loss_is_sound(KINDS[name]) is False


@pytest.mark.parametrize("name", KINDS)
def test_the_clinic_trusts_each_repaired_loss(name: str) -> None:
    loss = KINDS[name]
    assert loss_is_sound(lambda p, t: loss(p.reshape(t.shape), t)) is True


@pytest.mark.parametrize("torch_loss", [F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss])
def test_the_clinic_on_pytorchs_own_losses(torch_loss: Loss) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert loss_is_sound(torch_loss) is False


def test_a_loss_that_refuses_does_not_crash_the_clinic() -> None:
    def strict(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        if predictions.shape != targets.shape:
            raise ValueError("shapes differ")
        return ((predictions - targets) ** 2).mean()

    def column_only(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return ((predictions[:, 0] - targets) ** 2).mean()

    assert isinstance(loss_is_sound(strict), bool)
    assert isinstance(loss_is_sound(column_only), bool)
    assert isinstance(loss_is_sound(F.binary_cross_entropy), bool)


def test_a_loss_that_turns_into_a_vector_is_not_sound() -> None:
    assert loss_is_sound(lambda p, t: ((p - t) ** 2).mean(-1)) is False


def test_the_docstrings_example_of_one_step() -> None:
    (W, b), *_ = sgd_step(
        [(torch.tensor([[1.0]]), torch.tensor([0.0]))], [(torch.tensor([[-16.0]]), torch.zeros(1))], 0.1
    )
    assert math.isclose(W.item(), 2.6, rel_tol=1e-6)
    assert b.item() == 0
