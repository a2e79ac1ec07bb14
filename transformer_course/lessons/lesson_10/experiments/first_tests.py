"""Three new models with their training steps, one of them sound: what can_overfit is for."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from transformer_course.lessons.lesson_10.experiments.letters import LONGEST, Letters, Reverser, Tensors, row_loss

Suspect = tuple[Callable[[], Any], Callable[[Any, Tensors], float]]


class _Learner:
    """A model and its optimiser."""

    def __init__(self, seed: int, rate: float = 0.01, stranger: bool = False) -> None:
        torch.manual_seed(seed)
        self.model = Reverser()
        held = Reverser() if stranger else self.model
        self.optimizer = torch.optim.Adam(held.parameters(), lr=rate)


def _step(learner: _Learner, inputs: torch.Tensor, targets: torch.Tensor, smoothing: float = 0.0) -> float:
    loss = row_loss(learner.model(inputs), targets, smoothing)
    learner.optimizer.zero_grad()
    learner.model.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    learner.optimizer.step()
    return loss.item()


def suspects(seed: int = 0) -> dict[str, Suspect]:
    """A sound one; one whose optimiser holds another model's weights; and one that is never shown the letters."""

    def deaf(learner: _Learner, batch: Tensors) -> float:
        inputs, targets = batch
        silent = inputs.clone()
        silent[:, :LONGEST] = 1  # every row of letters is "aaaaaaaa"
        silent[:, LONGEST + 1 :] = 1
        return _step(learner, silent, targets)

    return {
        "Ida": (lambda: _Learner(seed), lambda learner, batch: _step(learner, *batch)),
        "Jon": (lambda: _Learner(seed, stranger=True), lambda learner, batch: _step(learner, *batch)),
        "Kim": (lambda: _Learner(seed), deaf),
    }


def sound_one(seed: int = 0, rate: float = 0.01, smoothing: float = 0.0) -> Suspect:
    """Ida's model and training step, with another rate or with label smoothing."""
    return lambda: _Learner(seed, rate), lambda learner, batch: _step(learner, *batch, smoothing)


def one_batch(data: Letters, rows: int = 16) -> Tensors:
    """The first few training rows."""
    return data.train[0][:rows], data.train[1][:rows]


def one_step(data: Letters, pieces: tuple[int, ...], accumulate: Callable[..., float], seed: int = 0) -> dict[str, Any]:
    """One step of SGD on 64 rows, cut into these pieces: the loss, and all weights afterwards as one vector."""
    torch.manual_seed(seed)
    model = Reverser()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    inputs, targets = data.train[0][:64], data.train[1][:64]
    batches = list(zip(torch.split(inputs, list(pieces)), torch.split(targets, list(pieces)), strict=True))
    loss = accumulate(model, batches, row_loss, optimizer)
    return {"loss": loss, "weights": nn.utils.parameters_to_vector(model.parameters()).detach()}


def mean_of_means(
    model: nn.Module, batches: list[Tensors], loss_function: Callable[..., torch.Tensor], optimizer: Any
) -> float:
    """The common mistake: each piece counts the same, however many rows it has."""
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets) / len(batches)
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    optimizer.step()
    return total
