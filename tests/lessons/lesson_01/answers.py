"""Lesson 01 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.mlp import MLP, mlp_predict, mse_loss

# --- batched_dot


def dot_by_blocks(a, b):
    out = a.new_zeros(a.size(0), a.size(1), b.size(1))
    for i in range(a.size(1)):
        for j in range(b.size(1)):
            out[:, i, j] = torch.linalg.vecdot(a[:, i], b[:, j])
    return out


def dot_by_baddbmm(a, b):
    zeros = torch.zeros(a.shape[0], a.shape[1], b.shape[1], dtype=a.dtype)
    return torch.baddbmm(zeros, a, b.transpose(1, 2), beta=0)


def dot_in_a_block_matrix(a, b):
    whole = a.reshape(-1, a.shape[-1]) @ b.reshape(-1, b.shape[-1]).T
    whole = whole.reshape(a.shape[0], a.shape[1], b.shape[0], b.shape[1])
    return whole.diagonal(dim1=0, dim2=2).permute(2, 0, 1)


def dot_of_equal_counts(a, b):
    out = torch.zeros(a.shape[0], a.shape[1], a.shape[1], dtype=a.dtype)
    for j in range(a.shape[1]):
        out[:, :, j] = (a * b[:, j : j + 1]).sum(-1)
    return out


# --- pick


def pick_from_log(values, index):
    mask = torch.arange(values.shape[1]) == index[:, None]
    return torch.where(mask, values, torch.zeros_like(values)).sum(1)


# --- predict


def numpy_with_copies(params, inputs):
    x = np.array(inputs)
    for number, (W, b) in enumerate(copy.deepcopy(params), start=1):
        x = np.tensordot(x, W, axes=1) + b[np.newaxis, :]
        if number < len(params):
            np.maximum(x, 0, out=x)
    return x


def numpy_per_row(params, inputs):
    rows = []
    for row in inputs:
        for i, (W, b) in enumerate(params):
            row = W.T @ row + b
            row = row if i == len(params) - 1 else np.where(row > 0, row, np.zeros_like(row))
        rows.append(row)
    return np.stack(rows)


def numpy_relu_on_inputs_in_place(params, inputs):
    x = inputs
    for i, (W, b) in enumerate(params):
        x = x @ W + b
        if i < len(params) - 1:
            x[x < 0] = 0
    inputs -= inputs.mean()
    return x


def predict_with_modules(params, inputs):
    steps = []
    for W, b in params:
        linear = nn.Linear(*W.shape, dtype=W.dtype)
        steps += [lambda x, W=W, b=b, linear=linear: F.linear(x, W.T, b), F.relu]
        assert linear.weight.shape == W.T.shape
    for step in steps[:-1]:
        inputs = step(inputs)
    return inputs


def predict_with_ones(params, inputs):
    x = inputs
    for i, (W, b) in enumerate(params):
        x = torch.cat([x, x.new_ones(len(x), 1)], 1) @ torch.cat([W, b[None]], 0)
        x = F.threshold(x, 0.0, 0.0) if i + 1 < len(params) else x
    return x


def predict_leaky(params, inputs):
    x = inputs
    for W, b in params[:-1]:
        x = F.leaky_relu(x @ W + b, 1e-3)
    return x @ params[-1][0] + params[-1][1]


def predict_relu6(params, inputs):
    x = inputs
    for W, b in params[:-1]:
        x = F.relu6(x @ W + b)
    return x @ params[-1][0] + params[-1][1]


def predict_in_half(params, inputs):
    x = inputs
    for i, (W, b) in enumerate(params):
        x = (x.float() @ W.float()).to(inputs.dtype) + b
        x = x.relu() if i + 1 < len(params) else x
    return x


def predict_sorted(params, inputs):
    params.sort(key=lambda pair: pair[0].shape[0])
    return mlp_predict(params, inputs)


# --- losses


def numpy_loss_with_python(params, batch):
    (x, y), total = batch, 0.0
    errors = numpy_with_copies(params, x) - y
    for row in errors.tolist():
        total += sum(e * e for e in row) / len(row)
    return total / len(errors)


def loss_by_einsum(params, batch):
    errors = mlp_predict(params, batch[0]) - batch[1]
    return torch.einsum("nd,nd->", errors, errors) / errors.numel()


def loss_backward_inside(params, batch):
    loss = mse_loss(params, batch)
    if loss.requires_grad:
        loss.backward(retain_graph=True)
    return loss


# --- one gradient by hand


def linear_by_nested_loops(W, b, batch):
    inputs, targets = batch
    errors = inputs @ W + b - targets
    n, d_out = errors.shape
    dW = [
        [sum(2 * errors[k, j] * inputs[k, i] for k in range(n)) / (n * d_out) for j in range(d_out)]
        for i in range(len(W))
    ]
    db = [sum(2 * errors[k, j] for k in range(n)) / (n * d_out) for j in range(d_out)]
    return np.array(dW, dtype=W.dtype), np.array(db, dtype=b.dtype)


def linear_by_outer_products(W, b, batch):
    x, y = batch
    share = (2 / np.prod(y.shape)) * (np.dot(x, W) + b - y)
    return (x[:, :, None] * share[:, None, :]).sum(axis=0).astype(W.dtype), share.sum(axis=0).astype(b.dtype)


def linear_by_autograd(W, b, batch):
    W, b, x, y = (torch.from_numpy(each).clone() for each in (W, b, *batch))
    W.requires_grad_(), b.requires_grad_()
    F.mse_loss(x @ W + b, y).backward()
    return W.grad.numpy(), b.grad.numpy()


def linear_of_first_row(W, b, batch):
    return linear_by_outer_products(W, b, (batch[0][:1], batch[1][:1]))


# --- gradients


def gradients_by_vjp(params, batch):
    plain = [(W.detach(), b.detach()) for W, b in params]
    loss, pull = torch.func.vjp(lambda p: mse_loss(p, batch), plain)
    return pull(torch.ones_like(loss))[0]


def gradients_with_enable_grad(params, batch):
    with torch.enable_grad():
        leaves = [[t.detach().clone().requires_grad_(True) for t in pair] for pair in params]
        mse_loss([tuple(pair) for pair in leaves], batch).backward()
    return [(W.grad.clone(), b.grad.clone()) for W, b in leaves]


def gradients_with_a_graph(params, batch):
    leaves = [tuple(t.detach().requires_grad_() for t in pair) for pair in params]
    flat = [t for pair in leaves for t in pair]
    found = iter(torch.autograd.grad(mse_loss(leaves, batch), flat, create_graph=True))
    return list(zip(found, found, strict=True))


def gradients_on_deep_copies(params, batch):
    new = copy.deepcopy(params)
    for t in (t for pair in new for t in pair):
        t.requires_grad_(True)
    mse_loss(new, batch).backward()
    return [(W.grad, b.grad) for W, b in new]


def gradients_of_first_row(params, batch):
    return gradients_by_vjp(params, (batch[0][:1], batch[1][:1]))


def gradients_flags_switched(params, batch):
    for t in (t for pair in params for t in pair):
        t.requires_grad_()
    flat = [t for pair in params for t in pair]
    found = iter(torch.autograd.grad(mse_loss(params, batch), flat))
    return list(zip(found, found, strict=True))


def gradients_grad_thrown_away(params, batch):
    found = gradients_by_vjp(params, batch)
    for t in (t for pair in params for t in pair):
        t.grad = None
    return found


# --- step


def step_by_tree(params, gradients, learning_rate):
    return [
        tuple(map(lambda p, g: p.sub(g, alpha=learning_rate), pair, dpair))
        for pair, dpair in zip(params, gradients, strict=True)
    ]


def step_on_deepcopy(params, gradients, learning_rate):
    new = copy.deepcopy(params)
    with torch.no_grad():
        for pair, dpair in zip(new, gradients, strict=True):
            for p, g in zip(pair, dpair, strict=True):
                p -= learning_rate * g
    return new


def step_bias_twice(params, gradients, learning_rate):
    return [
        (W - learning_rate * dW, b - 2 * learning_rate * db) for (W, b), (dW, db) in zip(params, gradients, strict=True)
    ]


def step_clipped(params, gradients, learning_rate):
    return [
        (W - learning_rate * dW.clamp(-1, 1), b - learning_rate * db.clamp(-1, 1))
        for (W, b), (dW, db) in zip(params, gradients, strict=True)
    ]


def step_rate_times_rate(params, gradients, learning_rate):
    return step_by_tree(params, gradients, learning_rate**2)


# --- MLP


class NamedLayers(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        ends = pairwise(sizes)
        pairs = OrderedDict((f"fc{i}", nn.Linear(*pair)) for i, pair in enumerate(ends))
        self.layers = nn.Sequential(pairs)

    def forward(self, inputs):
        *hidden, last = self.layers
        for layer in hidden:
            inputs = layer(inputs).clamp_min(0)
        return last(inputs)


class TupleOfRegistered(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.store = nn.ModuleList([nn.Linear(sizes[i - 1], sizes[i]) for i in range(1, len(sizes))])
        self.layers = tuple(self.store)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) if i == 0 else layer(torch.relu(x))
        return x


class Affine(nn.Linear):
    pass


class OwnLinear(NamedLayers):
    def __init__(self, sizes):
        super().__init__(sizes)
        self.layers = nn.ModuleList(Affine(i, o) for i, o in pairwise(sizes))


class SpareLayer(NamedLayers):
    def __init__(self, sizes):
        super().__init__(sizes)
        self.spare = nn.Linear(2, 2)


class NormInside(NamedLayers):
    def forward(self, inputs):
        return super().forward(F.layer_norm(inputs, inputs.shape[-1:]))


class FreshWeights(NamedLayers):
    def forward(self, inputs):
        for layer in self.layers:
            layer.reset_parameters()
        return super().forward(inputs)


class StaysInTraining(NamedLayers):
    def forward(self, inputs):
        self.train()
        return super().forward(inputs)


class SoftmaxAtTheEnd(NamedLayers):
    def forward(self, inputs):
        return super().forward(inputs).softmax(-1)


class ReluOnInputsInPlace(NamedLayers):
    def forward(self, inputs):
        out = super().forward(inputs)
        inputs.detach().relu_()
        return out


# --- train


def train_logged(model, inputs, targets, optimizer, steps):
    history = {"loss": []}
    criterion = nn.MSELoss(reduction="mean")
    for _ in range(steps):
        model.train()
        model.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        history["loss"].append(loss.detach().cpu().numpy().item())
        optimizer.step()
    return history["loss"]


def train_before_and_after(model, inputs, targets, optimizer, steps):
    losses = []
    for _ in range(steps):
        with torch.no_grad():
            losses.append(F.mse_loss(model(inputs), targets).item())
        optimizer.zero_grad(set_to_none=True)
        ((model(inputs) - targets) ** 2).mean().backward()
        optimizer.step()
    return tuple(losses)


def train_clipped(model, inputs, targets, optimizer, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_last_layer(model, inputs, targets, optimizer, steps):
    next(iter(model.parameters())).requires_grad_(False)
    return train_logged(model, inputs, targets, optimizer, steps)


def train_on_half(model, inputs, targets, optimizer, steps):
    half = max(1, len(inputs) // 2)
    return train_logged(model, inputs[:half], targets[:half], optimizer, steps)


def train_rounded(model, inputs, targets, optimizer, steps):
    return [round(loss, 2) for loss in train_logged(model, inputs, targets, optimizer, steps)]


def train_normalised(model, inputs, targets, optimizer, steps):
    inputs -= inputs.mean(0)
    return train_logged(model, inputs, targets, optimizer, steps)


# --- loss_is_sound


def sound_by_python(loss_function):
    predictions, targets = torch.rand(6), torch.rand(6)
    answers = {round(float(loss_function(p, targets)), 6) for p in (predictions, predictions[:, None])}
    return len(answers) == 1


def sound_by_item(loss_function):
    x, y = torch.tensor([[0.3], [1.0], [-2.0]]), torch.tensor([0.1, 2.0, 1.0])
    return loss_function(x, y).item() == pytest.approx(loss_function(x.squeeze(1), y).item())


def sound_with_whole_numbers(loss_function):
    x, y = torch.arange(5), torch.tensor([3, 1, 4, 1, 5])
    return math.isclose(loss_function(x.reshape(5, 1), y), loss_function(x, y))


def sound_only_square(loss_function):
    """Knows one bug: looks whether the loss is the broadcast mean of squares."""
    x, y = torch.tensor([0.3, 1.0, -2.0]), torch.tensor([0.1, 2.0, 1.0])
    return not math.isclose(float(loss_function(x[:, None], y)), float(((x[:, None] - y) ** 2).mean()), rel_tol=1e-6)


def sound_by_targets(loss_function):
    x, y = torch.randn(4), torch.randn(4)
    return math.isclose(float(loss_function(x, y)), float(loss_function(x, y.clone())))


def sound_if_larger(loss_function):
    x, y = torch.tensor([0.3, 1.0, -2.0]), torch.tensor([0.1, 2.0, 1.0])
    return float(loss_function(x[:, None], y)) <= float(loss_function(x, y)) + 1e-9


HONEST: dict[str, list[Any]] = {
    "batched_dot": [
        dot_by_blocks,
        dot_by_baddbmm,
        dot_in_a_block_matrix,
        lambda a, b: a.matmul(b.movedim(1, 2)),
        lambda a, b: torch.tensor(0) + torch.einsum("bij, bkj -> bik", a.contiguous(), b.contiguous()),
        lambda a, b: torch.vmap(torch.inner)(a, b),
    ],
    "pick": [
        pick_from_log,
        lambda values, index: values.gather(dim=1, index=index.reshape(-1, 1)).reshape(-1),
        lambda values, index: values[list(range(len(values))), index.tolist()],
        lambda values, index: torch.vmap(lambda row, i: row.index_select(0, i[None]))(values, index)[:, 0],
        lambda values, index: (values.unsqueeze(1) @ torch.eye(values.shape[1], dtype=values.dtype)[index][:, :, None])[
            :, 0, 0
        ],
        lambda values, index: torch.cat([values[i : i + 1, j] for i, j in enumerate(index.tolist())]),
    ],
    "mlp_predict_numpy": [numpy_with_copies, numpy_per_row],
    "mse_loss_numpy": [
        numpy_loss_with_python,
        lambda params, batch: (
            np.float32(numpy_loss_with_python(params, batch))
            if batch[0].dtype == np.float32
            else numpy_loss_with_python(params, batch)
        ),
        lambda params, batch: ((numpy_per_row(params, batch[0]) - batch[1]) ** 2).mean(axis=(0, 1)),
    ],
    "linear_gradients": [linear_by_nested_loops, linear_by_outer_products, linear_by_autograd],
    "mlp_predict": [predict_with_modules, predict_with_ones],
    "mse_loss": [
        loss_by_einsum,
        lambda params, batch: F.mse_loss(mlp_predict(params, batch[0]), batch[1], reduction="none").mean(),
        lambda params, batch: torch.stack(
            [F.mse_loss(mlp_predict(params, x[None]), y[None]) for x, y in zip(*batch, strict=True)]
        ).mean(),
    ],
    "loss_gradients": [
        gradients_by_vjp,
        gradients_with_enable_grad,
        gradients_with_a_graph,
        gradients_on_deep_copies,
    ],
    "sgd_step": [step_by_tree, step_on_deepcopy],
    "l2_penalty": [
        lambda params: sum(W.flatten() @ W.flatten() for W, _ in params),
        lambda params: torch.linalg.vector_norm(torch.cat([W.ravel() for W, b in params])).square(),
        lambda params: sum([F.mse_loss(W, torch.zeros_like(W), reduction="sum") for W, _ in params]),
        lambda params: torch.stack([torch.linalg.svdvals(W).square().sum() for W, _ in params]).sum(),
    ],
    "MLP": [NamedLayers, TupleOfRegistered, OwnLinear, lambda sizes: MLP(list(sizes))],
    "train": [train_logged, train_before_and_after],
    "loss_is_sound": [sound_by_python, sound_by_item, sound_with_whole_numbers],
}

WRONG: dict[str, list[Any]] = {
    "batched_dot": [
        dot_of_equal_counts,
        lambda a, b: (a @ b.mT).softmax(-1),
        lambda a, b: (a @ b.mT).tril(),
        lambda a, b: (a @ b.mT).to(torch.float16).to(a.dtype),
        lambda a, b: (a.float() @ b.float().mT).to(a.dtype),
        lambda a, b: (a @ b.mT).tolist(),
        lambda a, b: a[:, :, None] @ b.mT[:, None],
        lambda a, b: a @ b.view(b.shape[0], b.shape[2], b.shape[1]),
        lambda a, b: (a.view(a.shape) @ b.view(b.shape[0], -1, b.shape[2]).mT).relu(),
        lambda a, b: a @ b.detach().mT,
        lambda a, b: torch.cdist(a, b),
        lambda a, b: (a @ b.mT).double(),
    ],
    "pick": [
        lambda values, index: values.max(dim=1).values,
        lambda values, index: values[:, index[0]],
        lambda values, index: values.argmax(1),
        lambda values, index: values.flatten()[torch.arange(len(index)) * len(index) + index],
        lambda values, index: values[torch.arange(len(index)), index.flip(0)],
        lambda values, index: values.sort(dim=1).values.gather(1, index[:, None])[:, 0],
        lambda values, index: values.detach()[torch.arange(len(index)), index],
        lambda values, index: values[torch.arange(len(index)), index][None],
        lambda values, index: values.softmax(1)[torch.arange(len(index)), index],
        lambda values, index: values.float()[torch.arange(len(index)), index].to(values.dtype),
    ],
    "mlp_predict_numpy": [
        numpy_relu_on_inputs_in_place,
        lambda params, inputs: numpy_with_copies(params[::-1], inputs),
        lambda params, inputs: numpy_with_copies(params, inputs).tolist(),
        lambda params, inputs: torch.from_numpy(numpy_with_copies(params, inputs)),
        lambda params, inputs: numpy_with_copies(params, inputs).astype(np.float32).astype(inputs.dtype),
        lambda params, inputs: numpy_with_copies(params, inputs - inputs.mean(0)),
        lambda params, inputs: np.round(numpy_with_copies(params, inputs), 3),
    ],
    "mse_loss_numpy": [
        lambda params, batch: np.var(numpy_with_copies(params, batch[0]) - batch[1]),
        lambda params, batch: ((numpy_with_copies(params, batch[0]) - batch[1]) ** 2).max(),
        lambda params, batch: np.median((numpy_with_copies(params, batch[0]) - batch[1]) ** 2),
        lambda params, batch: ((numpy_with_copies(params, batch[0][:1]) - batch[1][:1]) ** 2).mean(),
        lambda params, batch: ((numpy_with_copies(params, batch[0]).ravel()[:, None] - batch[1].ravel()) ** 2).mean(),
        lambda params, batch: str(numpy_loss_with_python(params, batch)),
        lambda params, batch: -numpy_loss_with_python(params, batch),
        lambda params, batch: numpy_loss_with_python(params, [np.float32(each) for each in batch]),
    ],
    "linear_gradients": [
        linear_of_first_row,
        lambda W, b, batch: linear_by_outer_products(W, b, batch)[0] - 0.1,
        lambda W, b, batch: [each.astype(np.float64) for each in linear_by_outer_products(W, b, batch)],
        lambda W, b, batch: [np.sign(each) for each in linear_by_outer_products(W, b, batch)],
        lambda W, b, batch: [each.tolist() for each in linear_by_outer_products(W, b, batch)],
        lambda W, b, batch: [each.squeeze() for each in linear_by_outer_products(W, b, batch)],
        lambda W, b, batch: [p - each for p, each in zip((W, b), linear_by_outer_products(W, b, batch), strict=True)],
    ],
    "mlp_predict": [
        predict_leaky,
        predict_relu6,
        predict_in_half,
        predict_sorted,
        lambda params, inputs: mlp_predict(params, inputs).numpy(),
        lambda params, inputs: mlp_predict(params, inputs).softmax(-1),
        lambda params, inputs: mlp_predict([(W.detach(), b) for W, b in params], inputs),
        lambda params, inputs: mlp_predict([(W, b.mean()) for W, b in params], inputs),
        lambda params, inputs: F.dropout(mlp_predict(params, inputs), 0.1),
        lambda params, inputs: mlp_predict(params, inputs.detach()),
    ],
    "mse_loss": [
        loss_backward_inside,
        lambda params, batch: ((mlp_predict(params, batch[0]).sum(1) - batch[1].sum(1)) ** 2).mean(),
        lambda params, batch: F.smooth_l1_loss(mlp_predict(params, batch[0]), batch[1]),
        lambda params, batch: ((mlp_predict(params, batch[0]).flatten()[:, None] - batch[1].flatten()) ** 2).mean(),
        lambda params, batch: torch.tensor(mse_loss(params, batch).item(), dtype=batch[0].dtype, requires_grad=True),
        lambda params, batch: mse_loss(params, batch).double(),
        lambda params, batch: mse_loss(params, batch) + 1e-3 * sum((W**2).sum() for W, _ in params),
        lambda params, batch: mse_loss([*params[:-1], tuple(t.detach() for t in params[-1])], batch),
    ],
    "loss_gradients": [
        gradients_of_first_row,
        gradients_flags_switched,
        gradients_grad_thrown_away,
        lambda params, batch: dict(enumerate(gradients_by_vjp(params, batch))),
        lambda params, batch: [(dW, 0 * db) for dW, db in gradients_by_vjp(params, batch)],
        lambda params, batch: [(dW.sign(), db.sign()) for dW, db in gradients_by_vjp(params, batch)],
        lambda params, batch: [(dW.clamp(-1, 1), db.clamp(-1, 1)) for dW, db in gradients_by_vjp(params, batch)],
        lambda params, batch: [(dW.float(), db.float()) for dW, db in gradients_by_vjp(params, batch)],
        lambda params, batch: [(dW.numpy(), db.numpy()) for dW, db in gradients_by_vjp(params, batch)],
        lambda params, batch: mse_loss(params, batch),
    ],
    "sgd_step": [
        step_bias_twice,
        step_clipped,
        step_rate_times_rate,
        lambda params, gradients, learning_rate: step_by_tree(params, gradients, 0.1),
        lambda params, gradients, learning_rate: step_by_tree(params, params, learning_rate),
        lambda params, gradients, learning_rate: step_by_tree(params, gradients, learning_rate)[::-1],
        lambda params, gradients, learning_rate: tuple(
            zip(*step_by_tree(params, gradients, learning_rate), strict=True)
        ),
        lambda params, gradients, learning_rate: [
            (W.float() - learning_rate * dW.float(), b.float() - learning_rate * db.float())
            for (W, b), (dW, db) in zip(params, gradients, strict=True)
        ],
    ],
    "l2_penalty": [
        lambda params: sum((W**2).sum() for W, _ in params).float(),
        lambda params: sum((W**4).sum() for W, _ in params),
        lambda params: sum(W.pow(2).max() for W, _ in params),
        lambda params: sum(torch.trace(W @ W.T) for W, _ in params[1:]) if len(params) > 1 else params[0][0].sum(),
        lambda params: sum((W**2).sum() for W, _ in params).detach().requires_grad_(),
        lambda params: sum((W * W.detach()).sum() for W, _ in params),
        lambda params: {"penalty": sum((W**2).sum() for W, _ in params)},
        lambda params: 0.01 * sum((W**2).sum() for W, _ in params),
        lambda params: params.clear() or torch.zeros(()),
    ],
    "MLP": [
        SpareLayer,
        NormInside,
        FreshWeights,
        StaysInTraining,
        SoftmaxAtTheEnd,
        ReluOnInputsInPlace,
        lambda sizes: NamedLayers([sizes[0], sizes[-1]]),
        lambda sizes: NamedLayers(sizes[::-1]),
        lambda sizes: nn.Sequential(*NamedLayers(sizes).layers),
        lambda sizes: NamedLayers(sizes).requires_grad_(False),
        lambda sizes: NamedLayers(sizes).forward,
    ],
    "train": [
        train_clipped,
        train_last_layer,
        train_on_half,
        train_rounded,
        train_normalised,
        lambda m, x, y, o, steps: train_logged(m, x, y, o, steps)[::-1],
        lambda m, x, y, o, steps: train_logged(copy.deepcopy(m), x, y, o, steps),
        lambda m, x, y, o, steps: train_logged(m, x, y, torch.optim.Adam(m.parameters(), 0.02), steps),
        lambda m, x, y, o, steps: np.array(train_logged(m, x, y, o, steps)),
        lambda m, x, y, o, steps: [train_logged(m, x, y, o, 1)[0] for _ in range(max(steps, 1))],
        lambda m, x, y, o, steps: [str(loss) for loss in train_logged(m, x, y, o, steps)],
        lambda m, x, y, o, steps: [math.sqrt(loss) for loss in train_logged(m, x, y, o, steps)],
    ],
    "loss_is_sound": [
        sound_only_square,
        sound_by_targets,
        sound_if_larger,
        lambda loss: "broadcast" not in loss.__name__,
        lambda loss: float(loss(torch.ones(3, 1), torch.ones(3))) == 0,
        lambda loss: loss(torch.randn(4, 1), torch.randn(4)) is not None,
        lambda loss: str(sound_by_python(loss)),
        lambda loss: torch.isfinite(torch.as_tensor(loss(torch.randn(4, 1), torch.randn(4)))).item(),
    ],
}
