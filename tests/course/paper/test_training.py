"""The schedule, label smoothing, one epoch, and checkpoints that go on bit for bit."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from transformer_course.paper.checkpoints import load_checkpoint, save_checkpoint
from transformer_course.paper.model import Transformer
from transformer_course.paper.schedule import Counted, NoamSchedule, noam_learning_rate
from transformer_course.paper.smoothing import LabelSmoothingLoss
from transformer_course.paper.training import train_epoch


def some_optimizer(groups: int = 1) -> torch.optim.Optimizer:
    return torch.optim.SGD([{"params": [nn.Parameter(torch.zeros(1))]} for _ in range(groups)], lr=1.0)


def test_the_rate_is_the_papers_formula() -> None:
    for step in (1, 2, 399, 400, 401, 5000):
        wanted = 64**-0.5 * min(step**-0.5, step * 400**-1.5)
        assert noam_learning_rate(step, 64, 400) == wanted
        assert isinstance(noam_learning_rate(step, 64, 400), float)
    assert max(range(1, 2000), key=lambda step: noam_learning_rate(step, 64, 400)) == 400
    with pytest.raises(ValueError, match="count from 1"):
        noam_learning_rate(0, 64, 400)


def test_the_schedule_is_what_lambdalr_does_with_the_formula() -> None:
    ours, theirs = some_optimizer(groups=2), some_optimizer()
    schedule = NoamSchedule(ours, 64, 7)
    built_in = torch.optim.lr_scheduler.LambdaLR(theirs, lambda past: noam_learning_rate(past + 1, 64, 7))
    for _ in range(20):
        schedule.step()  # ours before the step that it is for
        assert [group["lr"] for group in ours.param_groups] == [theirs.param_groups[0]["lr"]] * 2
        theirs.step()
        built_in.step()  # theirs after the step, for the next one


def test_smoothing_is_cross_entropy_with_the_softened_targets() -> None:
    logits = torch.randn(3, 4, 7, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[3, 1, 6, 0], [2, 0, 0, 0], [5, 4, 1, 2]])
    soft = torch.full((3, 4, 7), 0.3 / 5, dtype=torch.float64)
    soft[..., 0] = 0.0
    soft.scatter_(-1, targets.unsqueeze(-1), 0.7)
    real = targets != 0
    wanted = nn.functional.cross_entropy(logits[real], soft[real])
    loss = LabelSmoothingLoss(7, 0.3, 0)
    assert torch.allclose(loss(logits, targets), wanted, atol=1e-12)
    assert torch.equal(loss(logits.flatten(0, 1), targets.flatten()), loss(logits, targets))
    with pytest.raises(ValueError, match="padding"):
        loss(logits, torch.zeros_like(targets))


def test_without_smoothing_it_is_pytorchs_loss() -> None:
    logits, targets = torch.randn(9, 7), torch.tensor([3, 1, 6, 0, 0, 2, 5, 0, 4])
    theirs = nn.CrossEntropyLoss(ignore_index=0)
    assert torch.allclose(LabelSmoothingLoss(7, 0.0, 0)(logits, targets), theirs(logits, targets))


def test_with_smoothing_pytorchs_loss_agrees_once_padding_is_out_of_its_vocabulary() -> None:
    """PyTorch spreads its share over all symbols, the target and padding included. Without the padding column, a
    smoothing of s / (V - 2) * (V - 1) there is a smoothing of s here."""
    vocab_size, smoothing = 7, 0.3
    logits, targets = torch.randn(9, vocab_size, dtype=torch.float64), torch.randint(1, vocab_size, (9,))
    ours = LabelSmoothingLoss(vocab_size, smoothing, 0)
    theirs = nn.CrossEntropyLoss(label_smoothing=smoothing * (vocab_size - 1) / (vocab_size - 2))
    never_padding = logits.clone()
    never_padding[:, 0] = -math.inf
    assert torch.allclose(ours(never_padding, targets), theirs(logits[:, 1:], targets - 1), atol=1e-12)
    plain = nn.CrossEntropyLoss(label_smoothing=smoothing, ignore_index=0)
    assert not torch.allclose(ours(logits, targets), plain(logits, targets), atol=1e-3)


DRAW = torch.Generator().manual_seed(0)
BATCHES = [
    (torch.randint(1, 9, (4, 5), generator=DRAW), torch.randint(1, 9, (4, 6), generator=DRAW)),
    (torch.randint(1, 9, (2, 3), generator=DRAW), torch.tensor([[1, 5, 0], [1, 2, 4]])),
]


def run_parts(seed: int = 0, dropout: float = 0.3) -> tuple[Transformer, torch.optim.Optimizer, Counted]:
    torch.manual_seed(seed)
    model = Transformer(9, 9, 16, 1, 2, 16, dropout, 9)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    return model, optimizer, Counted(NoamSchedule(optimizer, 16, 10))


def test_an_epoch_is_one_step_per_batch_and_its_loss_a_mean_over_tokens() -> None:
    model, optimizer, schedule = run_parts()
    rates: list[float] = []
    optimizer.register_step_pre_hook(lambda *_: rates.append(optimizer.param_groups[0]["lr"]))
    losses: list[tuple[float, int]] = []

    def loss_function(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss = LabelSmoothingLoss(9, 0.1, 0)(logits, targets)
        losses.append((loss.item(), int((targets != 0).sum())))
        return loss

    mean = train_epoch(model.eval(), iter(BATCHES), loss_function, optimizer, schedule)
    assert model.training
    assert rates == [noam_learning_rate(1, 16, 10), noam_learning_rate(2, 16, 10)]
    assert [count for _, count in losses] == [20, 3]
    assert mean == pytest.approx(sum(loss * count for loss, count in losses) / 23)


def test_it_learns() -> None:
    model, optimizer, schedule = run_parts(dropout=0.0)
    loss_function = LabelSmoothingLoss(9, 0.0, 0)
    means = [train_epoch(model, BATCHES, loss_function, optimizer, schedule) for _ in range(40)]
    assert means[-1] < means[0] / 2


def test_a_run_that_was_interrupted_goes_on_bit_for_bit(tmp_path: Path) -> None:
    path, loss_function = tmp_path / "run.pt", LabelSmoothingLoss(9, 0.1, 0)

    def go_on(parts: tuple[Transformer, torch.optim.Optimizer, Counted]) -> list[float]:
        losses = [train_epoch(parts[0], BATCHES, loss_function, *parts[1:]) for _ in range(3)]
        return [*losses, random.random(), float(np.random.random()), torch.rand(1).item()]

    parts = run_parts()
    train_epoch(parts[0], BATCHES, loss_function, *parts[1:])
    save_checkpoint(path, *parts, step=2)
    uninterrupted = go_on(parts)
    others = run_parts(seed=1)
    random.random(), np.random.random()
    assert load_checkpoint(path, *others) == 2
    assert go_on(others) == uninterrupted
    for name, tensor in parts[0].state_dict().items():
        assert torch.equal(tensor, others[0].state_dict()[name])


def test_a_save_that_fails_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, parts = tmp_path / "run.pt", run_parts()
    save_checkpoint(path, *parts, step=1)

    def breaks(content: object, place: Path) -> None:
        place.write_bytes(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(torch, "save", breaks)
    with pytest.raises(OSError, match="full"):
        save_checkpoint(path, *parts, step=2)
    assert load_checkpoint(path, *parts) == 1


def test_a_checkpoint_works_with_pytorchs_schedules(tmp_path: Path) -> None:
    path, (model, optimizer, _) = tmp_path / "run.pt", run_parts()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.step()
    schedule.step()
    save_checkpoint(path, model, optimizer, schedule, step=7)
    schedule.step()
    assert load_checkpoint(path, model, optimizer, schedule) == 7
    assert schedule.last_epoch == 1
