"""What lesson 10 builds, beside PyTorch's own: the same numbers, and the same memory."""

import math

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from transformer_course.training_well.checkpointing import run_checkpointed
from transformer_course.training_well.dropout import Dropout
from transformer_course.training_well.gradients import accumulated_step, clip_gradients
from transformer_course.training_well.half import half_precision_step
from transformer_course.training_well.overfitting import can_overfit
from transformer_course.training_well.schedule import warmup_schedule
from transformer_course.training_well.stopping import EarlyStopping


def network(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def batch(rows: int, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 4, generator=generator), torch.randn(rows, 3, generator=generator)


def weights(model: nn.Module) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.filterwarnings("ignore:The epoch parameter")
def test_the_schedule_is_that_of_pytorchs_schedulers() -> None:
    peak, warmup, total = 0.3, 7, 40
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=peak)
    up = LinearLR(optimizer, start_factor=1 / warmup, end_factor=1.0, total_iters=warmup - 1)
    down = CosineAnnealingLR(optimizer, T_max=total - warmup)
    schedule = SequentialLR(optimizer, [up, down], milestones=[warmup - 1])
    for step in range(1, total + 1):
        assert warmup_schedule(step, warmup, total, peak) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        schedule.step()
    assert warmup_schedule(total + 9, warmup, total, peak) == 0.0


@pytest.mark.parametrize("max_norm", [0.1, 1e3])
def test_gradients_are_clipped_as_pytorch_clips_them(max_norm: float) -> None:
    ours, theirs = network(), network()
    inputs, targets = batch(6)
    for model in (ours, theirs):
        nn.functional.mse_loss(model(inputs), targets).backward()  # type: ignore[no-untyped-call]
    norm = clip_gradients(ours.parameters(), max_norm)
    assert norm == pytest.approx(nn.utils.clip_grad_norm_(theirs.parameters(), max_norm).item(), rel=1e-5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert one.grad is not None
        torch.testing.assert_close(one.grad, other.grad)


def test_gradients_of_zero_stay_zero() -> None:
    weight = nn.Parameter(torch.ones(3))
    weight.grad = torch.zeros(3)
    assert clip_gradients([weight], 1.0) == 0.0
    assert torch.equal(weight.grad, torch.zeros(3))


def test_pieces_of_any_size_make_the_large_batchs_step() -> None:
    inputs, targets = batch(12)
    steps = []
    for sizes in ([12], [5, 4, 2, 1], [1] * 12):
        model = network()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        pieces = list(zip(inputs.split(sizes), targets.split(sizes), strict=True))
        loss = accumulated_step(model, pieces, nn.functional.mse_loss, optimizer)
        steps.append((loss, weights(model)))
    for loss, after in steps[1:]:
        assert loss == pytest.approx(steps[0][0], rel=1e-5)
        torch.testing.assert_close(after, steps[0][1], atol=1e-4, rtol=1e-4)


def test_dropout_does_what_pytorchs_does() -> None:
    for p in (0.0, 0.25, 0.6):
        x = torch.randn(300, 200, dtype=torch.float64)
        shares = []
        for layer in (Dropout(p), nn.Dropout(p)):
            dropped = layer(x)
            passed = dropped != 0
            torch.testing.assert_close(dropped[passed], x[passed] / (1 - p))
            shares.append(1 - passed.double().mean().item())
            assert layer.eval()(x) is x or torch.equal(layer(x), x)
        assert shares == pytest.approx([p, p], abs=0.02)
    for p in (-0.1, 1.0, math.nan):
        with pytest.raises(ValueError, match="at least 0 and less than 1"):
            Dropout(p)


def test_the_best_weights_come_back_whatever_training_did_since() -> None:
    model, stopping = network(), EarlyStopping(patience=2, min_delta=0.1)
    assert not stopping.step(math.nan, model)  # beats nothing, the infinite best included
    stops, seen = [], []
    for loss in (0.9, 0.5, 0.45, 0.3, 0.29, math.nan):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 1
        seen.append(weights(model))
        stops.append(stopping.step(loss, model))
    assert stops == [False, False, False, False, False, True]
    stopping.restore(model)
    assert torch.equal(weights(model), seen[3])


def test_checkpointed_blocks_have_the_same_gradients_with_dropout() -> None:
    both = []
    for run in (run_checkpointed, lambda blocks, x: nn.Sequential(*blocks)(x)):
        torch.manual_seed(0)
        blocks = [nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh()) for _ in range(3)]
        torch.manual_seed(1)
        run(blocks, torch.ones(5, 4)).sum().backward()
        gradients = [parameter.grad for block in blocks for parameter in block.parameters()]
        assert all(gradient is not None and gradient.any() for gradient in gradients)
        both.append(gradients)
    torch.testing.assert_close(*both)


def test_dropout_keeps_16_bits() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        assert Dropout(0.5)(torch.ones(8, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_step_in_half_precision_is_close_to_the_full_one(dtype: torch.dtype) -> None:
    inputs, targets = batch(6)
    half, full = network(), network()
    losses = [
        half_precision_step(
            half, inputs, targets, nn.functional.mse_loss, torch.optim.SGD(half.parameters(), lr=0.1), dtype
        ),
        accumulated_step(full, [(inputs, targets)], nn.functional.mse_loss, torch.optim.SGD(full.parameters(), lr=0.1)),
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert losses[0] != losses[1]
    torch.testing.assert_close(weights(half), weights(full), atol=5e-3, rtol=1e-2)
    assert {parameter.dtype for parameter in half.parameters()} == {torch.float32}


def test_one_model_gets_all_300_steps() -> None:
    models: list[list[float]] = []

    def make() -> list[float]:
        models.append([])
        return models[-1]

    def train_step(model: list[float], batch: float) -> float:
        model.append(batch)
        return 0.04 if len(model) == 300 else 1.0

    assert can_overfit(make, train_step, 7.0) is True
    assert models == [[7.0] * 300]
    assert (
        can_overfit(make, lambda model, batch: model.append(1.0) or 0.001 * len(model), 7.0) is False
    )  # low, then high
    assert can_overfit(make, lambda model, batch: math.nan, 7.0) is False
    assert can_overfit(make, lambda model, batch: 0.05, 7.0) is False
