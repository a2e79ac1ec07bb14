"""Lesson 1's experiments: learning by hand, learning rates, depth, weight decay, and a broken loss."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from course.progress import Progress
from course.tasks.curve import CurveData, noisy_curve

Params = list[tuple[torch.Tensor, torch.Tensor]]


def random_params(sizes: list[int], seed: int) -> Params:
    """Random [(W, b), ...] for a network of these sizes, drawn as `nn.Linear` draws its own.

    >>> [(tuple(W.shape), tuple(b.shape)) for W, b in random_params([1, 8, 2], seed=0)]
    [((1, 8), (8,)), ((8, 2), (2,))]
    """
    generator = torch.Generator().manual_seed(seed)
    params = []
    for d_in, d_out in pairwise(sizes):
        reach = d_in**-0.5  # many inputs add up, so each gets a smaller weight
        W = reach * (2 * torch.rand(d_in, d_out, generator=generator) - 1)
        b = reach * (2 * torch.rand(d_out, generator=generator) - 1)
        params.append((W, b))
    return params


def copy_into(model: Any, params: Params) -> None:
    """Give `model` (an `MLP`) the weights of `params`. A Linear stores (d_out, d_in), hence the transpose."""
    with torch.no_grad():
        for layer, (W, b) in zip(model.layers, params, strict=True):
            layer.weight.copy_(W.T)
            layer.bias.copy_(b)


def descend(
    mse_loss: Callable[..., torch.Tensor],
    loss_gradients: Callable[..., Params],
    sgd_step: Callable[..., Params],
    params: Params,
    batch: tuple[torch.Tensor, torch.Tensor],
    learning_rate: float,
    steps: int,
) -> tuple[Params, list[float]]:
    """Gradient descent by hand, with the learner's three functions: the last parameters and all losses."""
    losses = []
    for _ in (bar := Progress(range(steps), desc=f"rate {learning_rate}")):
        losses.append(float(mse_loss(params, batch)))
        bar.show_loss(losses[-1])
        params = sgd_step(params, loss_gradients(params, batch), learning_rate)
    return params, losses


def loss_on_test(model: Callable[[torch.Tensor], torch.Tensor], data: CurveData) -> float:
    """Mean squared error on the test points: for predictions only, so no graph is recorded."""
    with torch.no_grad():
        return float(((model(data.test_inputs) - data.test_targets) ** 2).mean())


def average_losses(
    train: Callable[..., list[float]],
    build: Callable[[], tuple[nn.Module, torch.optim.Optimizer]],
    seeds: Iterable[int],
    steps: int,
) -> tuple[float, float]:
    """Training and test loss of one recipe, averaged over several data sets, so that luck evens out.

    `build` makes a fresh model with its optimiser; each seed draws its own data and its own start.
    """
    train_losses, test_losses = [], []
    for seed in seeds:
        data = noisy_curve(seed)
        torch.manual_seed(seed)
        model, optimizer = build()
        train_losses.append(train(model, data.train_inputs, data.train_targets, optimizer, steps)[-1])
        test_losses.append(loss_on_test(model, data))
    return sum(train_losses) / len(train_losses), sum(test_losses) / len(test_losses)


def by_depth(
    MLP: Callable[[list[int]], nn.Module],
    train: Callable[..., list[float]],
    depths: Iterable[int],
    seeds: Iterable[int],
    width: int = 32,
    steps: int = 800,
) -> dict[int, tuple[float, float]]:
    """{number of hidden layers: (training loss, test loss)}, each trained with Adam for `steps` steps."""
    losses = {}
    for depth in (bar := Progress(list(depths), desc="hidden layers")):

        def build(depth: int = depth) -> tuple[nn.Module, torch.optim.Optimizer]:
            model = MLP([1] + [width] * depth + [1])
            return model, torch.optim.Adam(model.parameters(), lr=0.005)

        losses[depth] = average_losses(train, build, seeds, steps)
        bar.show_loss(losses[depth][1])
    return losses


def decayed_sgd(model: Any, weight_decay: float, learning_rate: float, momentum: float = 0.0) -> torch.optim.SGD:
    """SGD whose weight decay reaches the weights and leaves the biases alone."""
    weights = [layer.weight for layer in model.layers]
    biases = [layer.bias for layer in model.layers]
    groups: list[dict[str, Any]] = [
        {"params": weights, "weight_decay": weight_decay},
        {"params": biases, "weight_decay": 0.0},
    ]
    return torch.optim.SGD(groups, lr=learning_rate, momentum=momentum)


def by_weight_decay(
    MLP: Callable[[list[int]], nn.Module],
    train: Callable[..., list[float]],
    decays: Iterable[float],
    seeds: Iterable[int],
    sizes: Iterable[int] = (1, 64, 64, 64, 1),
    steps: int = 1000,
) -> dict[float, tuple[float, float]]:
    """{weight decay: (training loss, test loss)} of a network that is large for 24 points."""
    losses = {}
    for decay in (bar := Progress(list(decays), desc="weight decay")):

        def build(decay: float = decay) -> tuple[nn.Module, torch.optim.Optimizer]:
            model = MLP(list(sizes))
            return model, decayed_sgd(model, decay, learning_rate=0.05, momentum=0.9)

        losses[decay] = average_losses(train, build, seeds, steps)
        bar.show_loss(losses[decay][1])
    return losses


def penalised_losses(
    model: Any,
    l2_penalty: Callable[[Params], torch.Tensor],
    batch: tuple[torch.Tensor, torch.Tensor],
    penalty: float,
    learning_rate: float,
    steps: int,
) -> list[float]:
    """Plain SGD on `error + penalty * l2_penalty(weights)`: the errors before each step."""
    inputs, targets = batch
    descent = torch.optim.SGD(model.parameters(), lr=learning_rate)
    errors = []
    for _ in range(steps):
        error = nn.functional.mse_loss(model(inputs), targets)
        weights = [(layer.weight, layer.bias) for layer in model.layers]
        descent.zero_grad()
        (error + penalty * l2_penalty(weights)).backward()  # type: ignore[no-untyped-call]
        descent.step()
        errors.append(error.item())
    return errors


def fit_with(
    loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    model: nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    steps: int = 1000,
) -> list[float]:
    """Train `model` with a loss function of one's own choice: the loss before each step."""
    descent = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in (bar := Progress(range(steps), desc="training")):
        loss = loss_function(model(inputs), targets)
        descent.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        descent.step()
        losses.append(loss.item())
        bar.show_loss(losses[-1])
    return losses
