"""Learning: one step downhill, the usual training loop, and a test that tells sound losses from broken ones."""

from collections.abc import Callable

import torch
from torch import nn


def sgd_step(
    params: list[tuple[torch.Tensor, torch.Tensor]],
    gradients: list[tuple[torch.Tensor, torch.Tensor]],
    learning_rate: float,
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """One step of gradient descent: every parameter moves against its gradient.

    `params` is [(W, b), ...] and `gradients` is [(dW, db), ...]; W and dW have the same
    shape, and so do b and db. Returns a new list of pairs. The old parameters stay as
    they were.

    >>> params = [(torch.tensor([[1.0]]), torch.tensor([0.0]))]
    >>> gradients = [(torch.tensor([[-16.0]]), torch.tensor([-8.0]))]
    >>> sgd_step(params, gradients, learning_rate=0.125)
    [(tensor([[3.]]), tensor([1.]))]
    """
    ### BEGIN SOLUTION
    new_params = []
    with torch.no_grad():  # the step itself isn't something we want to differentiate
        for (W, b), (dW, db) in zip(params, gradients, strict=True):
            new_params.append((W - learning_rate * dW, b - learning_rate * db))
    return new_params
    ### END SOLUTION


def train(
    model: nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    optimizer: torch.optim.Optimizer,
    steps: int,
) -> list[float]:
    """Train `model` with mean squared error for `steps` steps, each on all the data at
    once.

    `inputs` is (n, d_in); `targets` is (n, d_out), the same shape as the predictions.
    The model changes in place. Returns a list of `steps` Python floats: the loss before
    each step.

    >>> model = nn.Linear(1, 1)
    >>> _ = nn.init.zeros_(model.weight), nn.init.zeros_(model.bias)  # predicts 0
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    >>> train(model, torch.tensor([[1.0]]), torch.tensor([[2.0]]), optimizer, steps=3)
    [4.0, 0.0, 0.0]
    """
    ### BEGIN SOLUTION
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()  # gradients add up, so clear those of the previous step
        loss = ((model(inputs) - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
    ### END SOLUTION


def loss_is_sound(loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor | float]) -> bool:
    """Does the loss give the same number whether the predictions come as (n, 1) or as
    (n,)?

    `loss_function(predictions, targets)` returns one number. The targets are (n,) both
    times. A loss that broadcasts compares each prediction with every target, so it
    isn't sound. A loss that refuses (n, 1) with an error never goes wrong silently:
    either answer will do.

    >>> loss_is_sound(lambda predictions, targets: (predictions.flatten() - targets).abs().mean())
    True
    >>> loss_is_sound(lambda predictions, targets: (predictions - targets).abs().mean())
    False
    """
    ### BEGIN SOLUTION
    # Each prediction misses its own target by 0.1, and the other targets by anything from 0 to 0.7. So a wrong
    # pairing shows, whatever a loss makes of the errors. With n = 1 there would be nothing to see.
    # All values lie between 0 and 1, where a cross-entropy or a logarithm works too.
    predictions = torch.tensor([0.2, 0.3, 0.7, 0.8])  # (n,)
    targets = torch.tensor([0.1, 0.2, 0.6, 0.9])  # (n,)
    try:
        flat = torch.as_tensor(loss_function(predictions, targets))
        column = torch.as_tensor(loss_function(predictions.unsqueeze(1), targets))  # (n, 1) against (n,)
    except (AssertionError, IndexError, RuntimeError, TypeError, ValueError):
        return True  # it refuses the shape, so it can't go wrong silently
    return flat.shape == column.shape and torch.allclose(flat.double(), column.double())
    ### END SOLUTION
