"""Training loops, right ones and wrong ones: `train` as people write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Loss = Callable[[Any, Any], Any]


def mse(predictions: Any, targets: Any) -> Any:
    """Mean squared error."""
    return ((predictions - targets) ** 2).mean()


def with_loss(loss_function: Loss) -> Callable[..., list[float]]:
    """The right loop with another loss."""

    def run(
        model: nn.Module,
        inputs: torch.Tensor,
        targets: torch.Tensor,
        optimizer: torch.optim.Optimizer,
        steps: int,
    ) -> list[float]:
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = loss_function(model(inputs), targets)
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
        return losses

    return run


right = with_loss(mse)


def noting(note: Callable[[list[Any], torch.Tensor], Any]) -> Callable[..., Any]:
    """The right steps; `note` makes of the losses so far and the new one what is returned."""

    def run(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> Any:
        noted: Any = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = mse(model(inputs), targets)
            loss.backward()
            optimizer.step()
            noted = note(noted, loss)
        return noted

    return run


def never_zeroed(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Gradients of all steps so far add up."""
    losses = []
    for _ in range(steps):
        loss = mse(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def never_moves(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """The gradients are gone before anything is done with them."""
    losses = []
    for _ in range(steps):
        loss = mse(model(inputs), targets)
        loss.backward()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def after_the_step(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Each loss is measured once the step is done."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        mse(model(inputs), targets).backward()
        optimizer.step()
        losses.append(mse(model(inputs), targets).item())
    return losses


def step_before_backward(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Each step follows the gradients of the step before."""
    losses = []
    for _ in range(steps):
        optimizer.step()
        optimizer.zero_grad()
        loss = mse(model(inputs), targets)
        loss.backward()
        losses.append(loss.item())
    return losses


def one_more_loss(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """The loss after the last step stands in the list too."""
    losses = right(model, inputs, targets, optimizer, steps)
    return [*losses, mse(model(inputs), targets).item()]


def predicted_once(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """The predictions are made once, before the loop."""
    losses = []
    predictions = model(inputs)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = mse(predictions, targets)
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return losses


def own_rule(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Moves by plain SGD, whatever optimizer it was given."""
    own = torch.optim.SGD(model.parameters(), lr=optimizer.param_groups[0]["lr"])
    return right(model, inputs, targets, own, steps)


def row_by_row(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """One row in each step."""
    losses = []
    for step in range(steps):
        row = step % len(inputs)
        losses += right(model, inputs[row : row + 1], targets[row : row + 1], optimizer, 1)
    return losses


def all_rows_each_step(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """One step after the other for all rows, in each step."""
    losses = []
    for _ in range(steps):
        rows = zip(inputs, targets, strict=True)
        each = [right(model, x[None], y[None], optimizer, 1)[0] for x, y in rows]
        losses.append(sum(each) / len(each))
    return losses


def by_closure(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Right: the optimizer calls for the loss."""

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), targets)
        torch.autograd.backward(loss)
        return loss

    return [optimizer.step(closure).item() for _ in range(steps)]


def zeroed_after(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Right: gradients are zeroed behind the step, and not set to None."""
    model.train()
    losses = []
    for _ in range(steps):
        loss = nn.MSELoss()(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(loss.detach().item())
    return losses


def grads_by_hand(model: Any, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    """Right: gradients are written into the parameters, so nothing has to be zeroed."""
    losses, step = [], 0
    parameters = list(model.parameters())
    while step < steps:
        loss = (model(inputs) - targets).square().sum() / targets.numel()
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        losses.append(float(loss.detach()))
        optimizer.step()
        step += 1
    return losses
