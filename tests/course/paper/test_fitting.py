"""Batches of similar lengths, and a run that is stopped, saved and goes on bit for bit."""

import os
import signal
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_course.paper.batches import Batches, write_all
from transformer_course.paper.fitting import Parts, Run, fit, mean_loss
from transformer_course.paper.interrupting import stop_on_request
from transformer_course.paper.recipes import Recipe
from transformer_course.paper.smoothing import LabelSmoothingLoss
from transformer_course.paper.training import train_epoch
from transformer_course.tasks.ten_pairs import ten_pairs

ENGLISH, GERMAN, PAIRS = ten_pairs()
TINY = Recipe(16, 1, 2, 32, 0.1, 9, steps=12, warmup_steps=20, max_tokens=20)
DRAW = torch.Generator().manual_seed(0)
LENGTHS = torch.randint(1, 30, (300,), generator=DRAW).tolist()
EXAMPLES = [([3] * length, [1, *[4] * (length // 2), 2]) for length in LENGTHS]


def train(
    folder: Path | None = None, steps: int | None = None, parts: Parts | None = None, save_every: int = 5
) -> tuple[Run, nn.Module]:
    model = TINY.build(ENGLISH.size, GERMAN.size, seed=3)
    path = folder / "run.pt" if folder else None
    run = fit(
        model,
        Batches(PAIRS, TINY.max_tokens),
        TINY,
        vocab_size=GERMAN.size,
        parts=parts or Parts(),
        steps=steps,
        checkpoint=path,
        save_every=save_every,
    )
    return run, model


def test_every_example_comes_once_within_the_budget() -> None:
    batches = Batches(EXAMPLES, 200, seed=4)
    rows = batches.rows(0)
    assert sorted(row for some in rows for row in some) == list(range(300))
    assert all(max(source.numel(), target.numel()) <= 200 for source, target in batches.epoch(0))
    assert batches.rows(0) == rows != batches.rows(1)
    assert Batches(EXAMPLES, 200, seed=5).rows(0) != rows
    with pytest.raises(ValueError, match="no batch of 20 can hold it"):
        Batches(EXAMPLES, 20).rows(0)


def test_similar_lengths_save_padding() -> None:
    assert Batches(EXAMPLES, 200).padding_share() < 0.06
    assert Batches(EXAMPLES, 200, by_length=False).padding_share() > 0.3
    source, target = next(Batches(EXAMPLES, 200, by_length=False).epoch(0))
    assert source.shape[0] == target.shape[0]
    assert (source[:, 1:] != 0).logical_and(source[:, :-1] == 0).sum() == 0  # padding comes last


def test_the_stream_can_begin_anywhere() -> None:
    batches = Batches(EXAMPLES, 400)
    per_epoch = len(batches.rows(0))
    whole = batches.endless()
    first = [next(whole)[0] for _ in range(2 * per_epoch + 3)]
    later = batches.endless(per_epoch + 2)
    for wanted in first[per_epoch + 2 :]:
        assert torch.equal(next(later)[0], wanted)


def test_answers_come_in_the_order_of_the_sources() -> None:
    sources = [[length] * length for length in (4, 9, 1, 7)]
    assert write_all(lambda source: source * 2, sources, max_tokens=16) == [[2 * n] * n for n in (4, 9, 1, 7)]


def test_a_run_in_two_pieces_has_the_losses_of_one(tmp_path: Path) -> None:
    whole, model = train()
    train(tmp_path, steps=7, save_every=3)
    again, other = train(tmp_path)
    assert len(whole.losses) == 12
    assert again.losses == whole.losses
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])
    assert train(tmp_path)[0].losses == whole.losses  # nothing is left to do


def test_ctrl_c_ends_the_step_saves_and_the_next_call_goes_on(tmp_path: Path) -> None:
    def interrupted(model: nn.Module, batches: object, *rest: object) -> float:
        seen = 0

        def counted():  # type: ignore[no-untyped-def]
            nonlocal seen
            for batch in batches:  # type: ignore[attr-defined]
                yield batch
                seen += 1
                if seen == 4:
                    os.kill(os.getpid(), signal.SIGINT)

        return train_epoch(model, counted(), *rest)  # type: ignore[arg-type]

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # the tests run in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    stopped, _ = train(tmp_path, parts=Parts(train_epoch=interrupted), save_every=100)
    assert stopped.interrupted
    assert 4 <= len(stopped.losses) <= 5
    again, _ = train(tmp_path)
    assert not again.interrupted
    assert again.losses == train()[0].losses


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with stop_on_request() as request:
            os.kill(os.getpid(), signal.SIGINT)
            assert request.made
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_gradients_are_clipped_before_each_step() -> None:
    norms: list[float] = []

    def noting(
        model: nn.Module, batches: object, loss: object, optimizer: torch.optim.Optimizer, *rest: object
    ) -> float:
        optimizer.register_step_pre_hook(
            lambda *_: norms.append(float(nn.utils.get_total_norm([p.grad for p in model.parameters()])))
        )
        return train_epoch(model, batches, loss, optimizer, *rest)  # type: ignore[arg-type]

    small = Recipe(16, 1, 2, 32, 0.0, 9, steps=3, warmup_steps=20, max_tokens=80, max_norm=0.01)
    model = small.build(ENGLISH.size, GERMAN.size)
    fit(model, Batches(PAIRS, 80), small, vocab_size=GERMAN.size, parts=Parts(train_epoch=noting))
    assert norms[-1] == pytest.approx(0.01, rel=1e-3)


def test_watching_and_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    model = TINY.build(ENGLISH.size, GERMAN.size)
    loss_function, batches = LabelSmoothingLoss(GERMAN.size, 0.0, 0), Batches(PAIRS, 80)
    before = mean_loss(model, batches, loss_function)
    fit(model, batches, TINY, vocab_size=GERMAN.size, watch=seen.append, watch_every=5, tensorboard=tmp_path / "curves")
    assert seen == [0, 5, 10, 12]
    assert mean_loss(model, batches, loss_function) < before
    assert (tmp_path / "curves").exists() or "TensorBoard is not installed" in capsys.readouterr().out
