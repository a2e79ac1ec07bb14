"""One pass over the training data, as the paper does it: teacher forcing, and a new learning rate before each step."""

from collections.abc import Callable, Iterable
from typing import Protocol

import torch
from torch import nn


class Schedule(Protocol):
    """Anything that sets an optimiser's learning rate when it is told that a step begins."""

    def step(self) -> None: ...


def train_epoch(
    model: nn.Module,
    batches: Iterable[tuple[torch.Tensor, torch.Tensor]],
    loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    schedule: Schedule,
) -> float:
    """Train on each batch once; returns the mean loss per target token, a Python float.

    A batch is (source, target): ids (batch, source_length) and (batch, target_length).
    A target includes its start and its end, so the decoder reads all but the last
    column and learns to write all but the first. `loss_function(logits, targets)` is
    the mean over tokens that aren't padding (id 0). Batches differ in size, so each
    counts as much as it has such tokens. The schedule steps before the optimiser does.

    >>> model = nn.Bilinear(1, 1, 1)  # too simple to learn anything
    >>> train_epoch(model, [], nn.functional.mse_loss, torch.optim.SGD(model.parameters()), None)
    Traceback (most recent call last):
    ValueError: there is no batch to learn from

    Raises:
        ValueError: when there is no batch.
    """
    ### BEGIN SOLUTION
    model.train()
    total, tokens = 0.0, 0
    for source, target in batches:
        target_input, target_output = target[:, :-1], target[:, 1:]  # both (batch, target_length - 1)
        loss = loss_function(model(source, target_input), target_output)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        schedule.step()
        optimizer.step()
        count = int((target_output != 0).sum())
        total += loss.item() * count
        tokens += count
    if tokens == 0:
        raise ValueError("there is no batch to learn from")
    return total / tokens
    ### END SOLUTION
