"""Training in NumPy: minibatches, a loss, the way back, a step. And what a trained model says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_course.numpy_transformer.walking import gradients_of
from transformer_course.progress import Progress

Loss = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]


def fit(
    model: Any,
    inputs: Sequence[np.ndarray],
    targets: np.ndarray,
    *,
    loss_function: Loss,
    optimizer: Any,
    epochs: int,
    batch_size: int = 64,
    seed: int = 0,
    look: Callable[[int], bool | None] | None = None,
    name: str = "training",
) -> list[float]:
    """Train `model` in place, and return the loss of each step.

    `inputs` are the arguments of `model.forward`, each (n, ...); `targets` are the ids that its logits should say.
    `optimizer` was made from `list(weights_of(model).values())`. `seed` decides the order of the examples.
    `look(epoch)`, if given, is called before training and after every epoch; training stops when it returns True.
    """
    generator = np.random.default_rng(seed)
    losses: list[float] = []
    starts = range(0, len(targets), batch_size)
    if look is not None:
        look(0)
    for step in (bar := Progress(range(epochs * len(starts)), desc=name)):
        epoch, batch = divmod(step, len(starts))
        if batch == 0:
            order = generator.permutation(len(targets))
        rows = order[starts[batch] : starts[batch] + batch_size]
        logits = model.forward(*(each[rows] for each in inputs))
        loss, gradient = loss_function(logits, targets[rows])
        model.backward(gradient)
        optimizer.step(list(gradients_of(model).values()))
        losses.append(float(loss))
        bar.show_loss(losses[-1])
        if look is not None and batch == len(starts) - 1 and look(epoch + 1):
            break
    return losses


def logits_of(model: Any, *inputs: np.ndarray, batch_size: int = 500) -> np.ndarray:
    """The logits for all rows, a batch at a time."""
    starts = range(0, len(inputs[0]), batch_size)
    return np.concatenate([model.forward(*(each[s : s + batch_size] for each in inputs)) for s in starts])


def right(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Which answers are right: booleans of the shape of `targets`."""
    same: np.ndarray = logits.argmax(axis=-1) == targets
    return same


def greedy(model: Any, source: np.ndarray, start_id: int, end_id: int, max_length: int) -> np.ndarray:
    """What a model writes on its own: ids (batch, max_length), the end included, and padding after it."""
    read = np.full((len(source), 1), start_id)
    done = np.zeros(len(source), dtype=bool)
    for _ in range(max_length):
        ids = np.where(done, 0, model.forward(source, read)[:, -1].argmax(axis=-1))
        read = np.concatenate([read, ids[:, None]], axis=1)
        done |= ids == end_id
    return read[:, 1:]


@dataclass(frozen=True)
class SequenceScores:
    """How well a model does on rows of tokens. All are shares; padding counts nowhere."""

    tokens_with_teacher: float
    exact_with_teacher: float
    tokens: float
    """Of the tokens it writes on its own."""
    exact: float
    """Of the rows it writes on its own, those that are right from start to end."""


def sequence_scores(
    model: Any, source: np.ndarray, target_input: np.ndarray, targets: np.ndarray, end_id: int
) -> SequenceScores:
    """All four scores of an encoder-decoder on rows (n, length)."""
    counts = targets != 0
    taught = right(logits_of(model, source, target_input), targets) | ~counts
    written = greedy(model, source, int(target_input[0, 0]), end_id, targets.shape[1])
    alone = (written == targets) | ~counts
    return SequenceScores(
        float(taught[counts].mean()),
        float(taught.all(axis=1).mean()),
        float(alone[counts].mean()),
        float(alone.all(axis=1).mean()),
    )
