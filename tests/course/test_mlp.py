"""The network three times over: NumPy, tensors, module. They agree, and leave alone what they are given."""

import numpy as np
import pytest
import torch

from course.mlp import MLP, l2_penalty, loss_gradients, mlp_predict, mse_loss
from course.mlp_numpy import mlp_predict_numpy, mse_loss_numpy
from lessons.lesson_01.experiments import copy_into, random_params

SIZES = [[3, 2], [1, 4, 1], [2, 5, 3, 4], [1, 3, 3, 3, 2]]
Params = list[tuple[torch.Tensor, torch.Tensor]]


def drawn(sizes: list[int], n: int, dtype: torch.dtype = torch.float64) -> tuple[Params, torch.Tensor, torch.Tensor]:
    """Random parameters, inputs and targets; biases are far from 0, so that a forgotten one shows."""
    torch.manual_seed(sum(sizes) + n)
    params = [(W.to(dtype), b.to(dtype)) for W, b in random_params(sizes, seed=n)]
    return params, torch.randn(n, sizes[0], dtype=dtype), torch.randn(n, sizes[-1], dtype=dtype)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("n", [1, 6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numpy_tensors_and_module_agree(sizes: list[int], n: int, dtype: torch.dtype) -> None:
    params, inputs, targets = drawn(sizes, n, dtype)
    arrays = [(W.numpy(), b.numpy()) for W, b in params]
    predictions = mlp_predict(params, inputs)
    assert predictions.shape == targets.shape
    assert predictions.dtype == dtype

    in_numpy = mlp_predict_numpy(arrays, inputs.numpy())
    assert in_numpy.dtype == arrays[0][0].dtype
    np.testing.assert_allclose(in_numpy, predictions.numpy(), rtol=1e-5, atol=1e-6)

    model = MLP(sizes).to(dtype)
    copy_into(model, params)
    torch.testing.assert_close(model(inputs), predictions)

    loss = mse_loss(params, (inputs, targets))
    assert loss.shape == ()
    torch.testing.assert_close(loss, torch.nn.functional.mse_loss(predictions, targets))
    assert mse_loss_numpy(arrays, (inputs.numpy(), targets.numpy())) == pytest.approx(loss.item(), rel=1e-5)


def test_relu_stands_between_the_layers_and_not_after_the_last() -> None:
    down = [(torch.tensor([[1.0]]), torch.zeros(1)), (torch.tensor([[-1.0]]), torch.zeros(1))]
    assert mlp_predict(down, torch.tensor([[2.0], [-2.0]])).flatten().tolist() == [-2.0, 0.0]


@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_agree_with_nudges(sizes: list[int]) -> None:
    params, inputs, targets = drawn(sizes, n=4)
    gradients = loss_gradients(params, (inputs, targets))
    for layer, pair in enumerate(params):
        for part, values in enumerate(pair):
            place = tuple(size - 1 for size in values.shape)
            losses = []
            for nudge in (1e-6, -1e-6):
                nudged = [[W.clone(), b.clone()] for W, b in params]
                nudged[layer][part][place] += nudge
                losses.append(mse_loss([(W, b) for W, b in nudged], (inputs, targets)).item())
            slope = (losses[0] - losses[1]) / 2e-6
            assert gradients[layer][part].shape == values.shape
            assert gradients[layer][part][place].item() == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_loss_gradients_touches_nothing(requires_grad: bool) -> None:
    params, inputs, targets = drawn([2, 3, 1], n=5)
    flat = [tensor.requires_grad_(requires_grad) for pair in params for tensor in pair]
    before = [tensor.detach().clone() for tensor in flat]
    gradients = loss_gradients(params, (inputs, targets))
    for tensor, old in zip(flat, before, strict=True):
        assert tensor.grad is None
        assert tensor.requires_grad is requires_grad
        assert torch.equal(tensor, old)
    assert all(not tensor.requires_grad for pair in gradients for tensor in pair)


def test_mse_loss_and_the_penalty_let_gradients_through() -> None:
    params, inputs, targets = drawn([2, 3, 1], n=5)
    for pair in params:
        for tensor in pair:
            tensor.requires_grad_()
    (mse_loss(params, (inputs, targets)) + l2_penalty(params)).backward()
    assert all(tensor.grad is not None for pair in params for tensor in pair)


def test_the_penalty_counts_every_weight_and_no_bias() -> None:
    params, _, _ = drawn([2, 5, 3], n=1)
    expected = sum(float((W**2).sum()) for W, _ in params)
    assert l2_penalty(params).item() == pytest.approx(expected)
    assert l2_penalty([(W, b + 7) for W, b in params]).item() == pytest.approx(expected)
    assert l2_penalty(params).dtype == torch.float64


def test_the_module_holds_its_parameters_where_pytorch_finds_them() -> None:
    model = MLP([3, 5, 4, 2])
    assert len(model.layers) == 3
    assert sum(values.numel() for values in model.parameters()) == 3 * 5 + 5 + 5 * 4 + 4 + 4 * 2 + 2
    assert model(torch.zeros(1, 3)).shape == (1, 2)
    assert len(MLP([3, 2]).layers) == 1
