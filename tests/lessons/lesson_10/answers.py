"""Lesson 10 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import contextlib
import copy
import io
import math

import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

# --- can_overfit


def overfits_by_recursion(make_model, train_step, batch):
    model = make_model()

    def after(steps):
        loss = train_step(model, batch)
        return loss if steps == 1 else after(steps - 1)

    return after(300) < 5e-2


def overfits_with_numpy(make_model, train_step, batch):
    model = make_model()
    return bool((np.array([train_step(model, batch) for _ in range(300)]) < 0.05)[-1])


def overfits_in_ten_steps(make_model, train_step, batch):
    model = make_model()
    return [train_step(model, batch) for _ in range(10)][-1] < 0.05


def overfits_if_nothing_is_raised(make_model, train_step, batch):
    model = make_model()
    for _ in range(300):
        train_step(model, batch)
    return True


def overfits_below_one(make_model, train_step, batch):
    model = make_model()
    return [train_step(model, batch) for _ in range(300)][-1] < 1


# --- warmup_schedule


def schedule_of_tensors(step, warmup_steps, total_steps, peak):
    if step < warmup_steps:
        return step * peak / warmup_steps
    progress = torch.tensor((step - warmup_steps) / (total_steps - warmup_steps), dtype=torch.float64).clamp(0, 1)
    return ((torch.cos(progress * torch.pi) + 1) * (peak / 2)).item()


def schedule_by_sine(step, warmup_steps, total_steps, peak):
    if step <= warmup_steps:
        return peak * (step / warmup_steps)
    if step < total_steps:
        return peak * math.sin(math.pi / 2 * (total_steps - step) / (total_steps - warmup_steps)) ** 2
    return 0.0


def schedule_that_ends_at_a_tenth(step, warmup_steps, total_steps, peak):
    return max(schedule_by_sine(step, warmup_steps, total_steps, peak), peak / 10)


def schedule_without_a_top(step, warmup_steps, total_steps, peak):
    return peak * step / warmup_steps


def schedule_of_the_root(step, warmup_steps, total_steps, peak):
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# --- clip_gradients


def clips_with_foreach(parameters, max_norm):
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = math.sqrt(math.fsum(float(n) ** 2 for n in torch._foreach_norm(gradients)))
    if norm > max_norm:
        torch._foreach_mul_(gradients, max_norm / norm)
    return norm


def clips_with_numpy(parameters, max_norm):
    held = [p for p in parameters if p.grad is not None]
    norm = float(np.sqrt(sum((p.grad.double().numpy() ** 2).sum() for p in held)))
    for p in held:
        p.grad.copy_(p.grad * (max_norm / max(norm, max_norm)))
    return norm


def clips_the_first(parameters, max_norm):
    first = next(iter(parameters))
    return nn.utils.clip_grad_norm_([first], max_norm).item()


def clips_at_one(parameters, max_norm):
    return nn.utils.clip_grad_norm_(parameters, 1.0).item()


def clips_too_short(parameters, max_norm):
    parameters = list(parameters)
    norm = nn.utils.clip_grad_norm_(parameters, max_norm).item()
    nn.utils.clip_grad_norm_(parameters, max_norm / 2)
    return norm


# --- accumulated_step


def accumulates_by_hand(model, batches, loss_function, optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    rows, total = sum(targets.shape[0] for _, targets in batches), 0.0
    sums = [torch.zeros_like(p) for p in parameters]
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets)
        for one, gradient in zip(sums, torch.autograd.grad(loss, parameters), strict=True):
            one += gradient * (len(targets) / rows)
        total += loss.item() * len(targets)
    for p, one in zip(parameters, sums, strict=True):
        p.grad = one
    optimizer.step()
    optimizer.zero_grad()
    return total / rows


def accumulates_backwards(model, batches, loss_function, optimizer):
    rows = sum(map(len, (inputs for inputs, _ in batches)))
    optimizer.zero_grad()
    parts = []
    for inputs, targets in reversed(list(batches)):
        part = loss_function(model(inputs), targets).mul(inputs.shape[0]).div(rows)
        part.backward()
        parts.append(part.detach())
    optimizer.step()
    return torch.stack(parts).sum().item()


def accumulates_the_largest(model, batches, loss_function, optimizer):
    inputs, targets = max(batches, key=lambda batch: len(batch[0]))
    optimizer.zero_grad()
    loss = loss_function(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def accumulates_and_steps_twice(model, batches, loss_function, optimizer):
    result = accumulates_backwards(model, batches, loss_function, optimizer)
    optimizer.step()
    return result


def accumulates_by_the_first_size(model, batches, loss_function, optimizer):
    optimizer.zero_grad()
    size, total = len(batches[0][0]) * len(batches), 0.0
    for inputs, targets in batches:
        part = loss_function(model(inputs), targets) * len(inputs) / size
        part.backward()
        total += part.item()
    optimizer.step()
    return total


# --- Dropout


class DropoutByPermutation(nn.Module):
    """Drops exactly a share of p."""

    def __init__(self, p):
        super().__init__()
        assert 0 <= p < 1, "p is a share below 1"
        self.register_buffer("share", torch.tensor(float(p)))

    def forward(self, x):
        if self.training:
            keep = torch.ones(x.numel(), dtype=torch.bool)
            keep[torch.randperm(x.numel())[: round(self.share.item() * x.numel())]] = False
            return x.masked_fill(~keep.view(x.shape), 0.0) / (1 - self.share.item())
        return x


class DropoutByFunction(nn.Module):
    def __init__(self, p):
        if not (p >= 0 and p < 1):
            raise TypeError("no such share")
        nn.Module.__init__(self)
        self.rate = p

    def forward(self, x):
        return nn.functional.dropout(x, self.rate, self.training)


class DropoutOfNoise(DropoutByFunction):
    def forward(self, x):
        return x + self.rate * torch.randn_like(x) if self.training else x


class DropoutOfTheEnd(DropoutByFunction):
    def forward(self, x):
        if not self.training:
            return x
        keep = torch.arange(x.numel()).view(x.shape) < (1 - self.rate) * x.numel()
        return x * keep / (1 - self.rate)


class DropoutOfZeros(DropoutByFunction):
    def forward(self, x):
        return x * 0 if self.training else x


# --- EarlyStopping


class StoppingByBytes:
    """The weights as bytes."""

    def __init__(self, patience, min_delta=0.0):
        self.left = self.patience = patience
        self.min_delta, self.best = min_delta, None

    def step(self, loss, model):
        if not math.isnan(loss) and (self.best is None or self.best - loss > self.min_delta):
            self.best, self.left, self.file = loss, self.patience, io.BytesIO()
            torch.save(model.state_dict(), self.file)
        else:
            self.left -= 1
        return not self.left > 0

    def restore(self, model):
        self.file.seek(0)
        model.load_state_dict(torch.load(self.file))


class StoppingByModel:
    """A copy of the whole model; says nothing where there is nothing to say."""

    def __init__(self, patience, min_delta=0.0):
        self.patience, self.min_delta, self.best, self.bad = patience, min_delta, float("inf"), []

    def step(self, loss, model):
        if loss + self.min_delta < self.best:
            self.best, self.bad, self.copy = loss, [], copy.deepcopy(model)
            return None
        self.bad.append(loss)
        return len(self.bad) >= self.patience

    def restore(self, model):
        for mine, theirs in zip(self.copy.parameters(), model.parameters(), strict=True):
            theirs.data.copy_(mine.data)


class StoppingAfterAll(StoppingByModel):
    """Counts all losses."""

    def step(self, loss, model):
        super().step(loss, model)
        self.seen = getattr(self, "seen", 0) + 1
        return self.seen > self.patience


class StoppingWithTheFirst(StoppingByModel):
    """Brings the first weights back."""

    def step(self, loss, model):
        self.first = getattr(self, "first", None) or copy.deepcopy(model)
        return super().step(loss, model)

    def restore(self, model):
        model.load_state_dict(self.first.state_dict())


class StoppingWithHalf(StoppingByModel):
    """Brings back the first parameter alone."""

    def restore(self, model):
        next(model.parameters()).data.copy_(next(self.copy.parameters()).data)


# --- run_checkpointed


def checkpoints_in_pairs(blocks, x):
    blocks = list(blocks)
    for place in range(0, len(blocks), 2):
        x = checkpoint(nn.Sequential(*blocks[place : place + 2]), x, use_reentrant=False)
    return x


class _Again(torch.autograd.Function):
    """Checkpointing by hand."""

    @staticmethod
    def forward(ctx, block, x, *parameters):
        ctx.block, ctx.rng = block, torch.get_rng_state()
        ctx.save_for_backward(x)
        with torch.no_grad():
            return block(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.rng)
        with torch.enable_grad():
            output = ctx.block(x)
        torch.set_rng_state(now)
        parameters = list(ctx.block.parameters())
        found = torch.autograd.grad(output, [x, *parameters], gradient)
        return (None, *found)


def checkpoints_by_hand(blocks, x):
    for block in blocks:
        x = _Again.apply(block, x, *block.parameters())
    return x


def checkpoints_the_last(blocks, x):
    for block in blocks[:-1]:
        x = block(x)
    return checkpoint(blocks[-1], x, use_reentrant=False) if len(blocks) else x


def checkpoints_with_a_sum(blocks, x):
    for block in blocks:
        x = x + checkpoint(block, x, use_reentrant=False)
    return x


def checkpoints_nothing(blocks, x):
    return nn.Sequential(*blocks)(x)


# --- half_precision_step


def half_as_decorated(model, inputs, targets, loss_function, optimizer, dtype):
    @torch.autocast(device_type="cpu", dtype=dtype)
    def forward():
        return loss_function(model(inputs), targets)

    model.zero_grad()
    (loss := forward()).backward()
    optimizer.step()
    return float(loss.detach())


def half_on_a_stack(model, inputs, targets, loss_function, optimizer, dtype):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.amp.autocast("cpu", dtype))
        loss = loss_function(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.tolist()


def half_for_the_loss_alone(model, inputs, targets, loss_function, optimizer, dtype):
    optimizer.zero_grad()
    outputs = model(inputs)
    with torch.autocast("cpu", dtype=dtype):
        loss = loss_function(outputs, targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def half_with_two_steps(model, inputs, targets, loss_function, optimizer, dtype):
    half_as_decorated(model, inputs, targets, loss_function, optimizer, dtype)
    return half_as_decorated(model, inputs, targets, loss_function, optimizer, dtype)


def half_of_the_loss(model, inputs, targets, loss_function, optimizer, dtype):
    return half_as_decorated(model, inputs, targets, lambda o, t: loss_function(o, t) / 2, optimizer, dtype)


HONEST = {
    "can_overfit": [overfits_by_recursion, overfits_with_numpy],
    "warmup_schedule": [schedule_of_tensors, schedule_by_sine],
    "clip_gradients": [clips_with_foreach, clips_with_numpy],
    "accumulated_step": [accumulates_by_hand, accumulates_backwards],
    "Dropout": [DropoutByPermutation, DropoutByFunction],
    "EarlyStopping": [StoppingByBytes, StoppingByModel],
    "run_checkpointed": [checkpoints_in_pairs, checkpoints_by_hand],
    "half_precision_step": [half_as_decorated, half_on_a_stack],
}
WRONG = {
    "can_overfit": [overfits_in_ten_steps, overfits_if_nothing_is_raised, overfits_below_one],
    "warmup_schedule": [schedule_that_ends_at_a_tenth, schedule_without_a_top, schedule_of_the_root],
    "clip_gradients": [clips_the_first, clips_at_one, clips_too_short],
    "accumulated_step": [accumulates_the_largest, accumulates_and_steps_twice, accumulates_by_the_first_size],
    "Dropout": [DropoutOfNoise, DropoutOfTheEnd, DropoutOfZeros],
    "EarlyStopping": [StoppingAfterAll, StoppingWithTheFirst, StoppingWithHalf],
    "run_checkpointed": [checkpoints_the_last, checkpoints_with_a_sum, checkpoints_nothing],
    "half_precision_step": [half_for_the_loss_alone, half_with_two_steps, half_of_the_loss],
}
