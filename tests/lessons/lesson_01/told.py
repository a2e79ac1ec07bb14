"""What is told of wrong answers that match no mistake, by what they give: other slopes, another sum, other rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from tests.lessons.words import Told
from transformer_course import mlp

Pairs = list[tuple[torch.Tensor, torch.Tensor]]
Arrays = list[tuple[np.ndarray, np.ndarray]]
Batch = tuple[torch.Tensor, torch.Tensor]
ArrayBatch = tuple[np.ndarray, np.ndarray]


def rows_side_by_side(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    shorter = min(a.shape[1], b.shape[1])
    return (a[:, :shorter] * b[:, :shorter]).sum(dim=-1)


def first_number_skipped(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a[..., 1:] @ b[..., 1:].mT


def skipped_and_detached(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return first_number_skipped(a, b).detach()


def largest_in_a_column(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return values.max(dim=1, keepdim=True).values


def tanh_without_biases(params: Arrays, inputs: np.ndarray) -> np.ndarray:
    for W, _ in params[:-1]:
        inputs = np.tanh(inputs @ W)
    return inputs @ params[-1][0]


def relu_at_the_end_alone(params: Arrays, inputs: np.ndarray) -> np.ndarray:
    for W, b in params:
        inputs = inputs @ W + b
    return inputs.clip(0)


def biases_taken_off_and_relu_everywhere(params: Pairs, inputs: torch.Tensor) -> torch.Tensor:
    for W, b in params:
        inputs = torch.relu(inputs @ W - b)
    return inputs


def halved_without_targets(W: np.ndarray, b: np.ndarray, batch: ArrayBatch) -> ArrayBatch:
    x, targets = batch
    z = (x @ W + b) / targets.size
    return x.T @ z, z.sum(axis=0)


def of_a_hidden_layer(W: np.ndarray, b: np.ndarray, batch: ArrayBatch) -> ArrayBatch:
    x, targets = batch
    z = x @ W + b
    slopes = 2 / targets.size * (z.clip(0) - targets) * (z > 0)
    return x.T @ slopes, slopes.sum(axis=0)


def dw_of_the_sum(W: np.ndarray, b: np.ndarray, batch: ArrayBatch) -> ArrayBatch:
    x, targets = batch
    errors = x @ W + b - targets
    return 2 * x.T @ errors, 2 / targets.size * errors.sum(axis=0)


def all_pairs(params: Pairs, batch: Batch) -> torch.Tensor:
    errors = mlp.mlp_predict(params, batch[0]).reshape(-1, 1) - batch[1].reshape(1, -1)
    return errors.square().mean()


def huber(params: Pairs, batch: Batch) -> torch.Tensor:
    return nn.functional.huber_loss(mlp.mlp_predict(params, batch[0]), batch[1])


def half_the_sum(params: Pairs, batch: Batch) -> torch.Tensor:
    return nn.functional.mse_loss(mlp.mlp_predict(params, batch[0]), batch[1], reduction="sum") / 2


def half_the_sum_as_a_constant(params: Pairs, batch: Batch) -> torch.Tensor:
    return torch.tensor(half_the_sum(params, batch).item())


def by_columns_swapped(params: Pairs, batch: Batch) -> Pairs:
    pairs = mlp.loss_gradients(params, batch)
    row = [dW for dW, _ in pairs] + [db for _, db in pairs]
    return list(zip(row[0::2], row[1::2], strict=True))


def last_layer_forgotten(params: Pairs, batch: Batch) -> Pairs:
    pairs = mlp.loss_gradients(params, batch)
    return pairs[:-1] or pairs


def biases_uphill(params: Pairs, gradients: Pairs, learning_rate: float) -> Pairs:
    return [
        (W - learning_rate * dW, b + learning_rate * db) for (W, b), (dW, db) in zip(params, gradients, strict=True)
    ]


def weights_alone_and_doubled(params: Pairs, gradients: Pairs, learning_rate: float) -> Pairs:
    return [(W - 2 * learning_rate * dW, b) for (W, b), (dW, _) in zip(params, gradients, strict=True)]


def squares(params: Pairs) -> Iterator[torch.Tensor]:
    return (W.square() for W, _ in params)


def mean_of_all_weights(params: Pairs) -> torch.Tensor:
    return torch.cat([each.flatten() for each in squares(params)]).mean()


def sum_of_means(params: Pairs) -> torch.Tensor:
    return torch.stack([each.mean() for each in squares(params)]).sum()


def square_of_the_sum(params: Pairs) -> torch.Tensor:
    return torch.stack([W.sum() for W, _ in params]).sum().square()


def without_layer_1(params: Pairs) -> torch.Tensor:
    return mlp.l2_penalty(params[:1] + params[2:])


def means_as_a_constant(params: Pairs) -> torch.Tensor:
    return sum_of_means(params).detach()


def on_a_copy(model: nn.Module, inputs: Any, targets: Any, optimizer: Any, steps: int) -> list[float]:
    losses, twin = [], deepcopy(model)
    for _ in range(steps):
        loss = (twin(inputs) - targets).square().mean()
        twin.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class NeverCalm(mlp.MLP):
    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(super().forward(inputs), 0.3)


ON_CARDS: list[Told] = [
    ("batched_dot", rows_side_by_side, "Row j of a only meets row j of b."),
    ("mlp_predict_numpy", tanh_without_biases, "Your biases are left out and between two layers, z becomes tanh(z)."),
    (
        "mlp_predict",
        biases_taken_off_and_relu_everywhere,
        "Your biases are subtracted and there is a ReLU after the last layer too.",
    ),
    ("linear_gradients", of_a_hidden_layer, "Your slopes are those of a layer with a ReLU."),
    ("linear_gradients", dw_of_the_sum, "Your db is right, and your dW isn't: you don't divide."),
    ("mse_loss", all_pairs, "Each entry of the predictions is compared with every entry of the targets."),
    ("mse_loss", huber, "Your loss takes large errors as they are and squares only small ones."),
    ("loss_gradients", by_columns_swapped, "entry [0][1] of your list is the dW of layer 1"),
    ("loss_gradients", last_layer_forgotten, "Counted from 0, the gradients of layer 1 are missing."),
    ("sgd_step", weights_alone_and_doubled, "and your biases stay where they are; learning_rate is"),
    ("l2_penalty", mean_of_all_weights, ", the number of weights. Does the docstring ask for a mean?"),
    ("l2_penalty", square_of_the_sum, "You take the square of the sum of the weights."),
    ("train", on_a_copy, "the model that was passed in has no gradients."),
    ("MLP", NeverCalm, "Your model draws random numbers whenever it is called, in eval mode too."),
]
UNNAMED: list[Told] = [
    (
        "mlp_predict_numpy",
        relu_at_the_end_alone,
        "There is no ReLU between your layers and there is a ReLU after the last layer too.",
    ),
    ("linear_gradients", halved_without_targets, "The targets are left out and the factor of 2 is missing."),
    ("mse_loss", half_the_sum, "Your result is half of the sum of the squared errors."),
    ("sgd_step", biases_uphill, "times their gradients, and your biases climb by"),
    ("l2_penalty", sum_of_means, "You add up each layer's mean of the squared weights."),
]
BESIDE: list[Told] = [
    ("batched_dot", skipped_and_detached, "Number 0 of each row, counted from 0, never counts."),
    ("batched_dot", skipped_and_detached, "No gradient flows back from your result."),
    ("pick", largest_in_a_column, "Your entries come in a column of shape (n, 1)."),
    ("mse_loss", half_the_sum_as_a_constant, "No gradient flows back from your result."),
    ("l2_penalty", means_as_a_constant, "No gradient flows back from your result."),
    ("l2_penalty", without_layer_1, "Only the weights of layer 0, counted from 0, count."),
    ("l2_penalty", without_layer_1, "The weights of layer 1, counted from 0, don't count."),
]
RIGHT = [
    ("batched_dot", "loop over everything"),
    ("pick", "one-hot"),
    ("mlp_predict_numpy", "half of x and its size"),
    ("linear_gradients", "a column of ones"),
    ("mse_loss", "target detached"),
    ("loss_gradients", "weights then biases"),
    ("l2_penalty", "norms squared"),
    ("sgd_step", "lerp"),
]
