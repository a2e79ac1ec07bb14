"""Real training: the paper's schedule and loss, clipped gradients, checkpoints, progress, and a Ctrl-C that saves.

The lesson's own symbols do the work: `train_epoch` trains, in pieces of an epoch, and the rest is handed to it as the
batches it asks for, the model it calls and hooks of the optimiser.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_course.fitting import best_device, evaluating
from transformer_course.paper.batches import Batch, Batches
from transformer_course.paper.checkpoints import load_checkpoint, save_checkpoint
from transformer_course.paper.interrupting import Request, stop_on_request
from transformer_course.paper.recipes import Recipe
from transformer_course.paper.schedule import NoamSchedule, resumable
from transformer_course.paper.smoothing import LabelSmoothingLoss
from transformer_course.paper.training import train_epoch
from transformer_course.progress import Progress

NOAM = resumable(NoamSchedule)


@dataclass(frozen=True)
class Parts:
    """What trains the model: the course's, unless a learner's are put in."""

    train_epoch: Callable[..., float] = train_epoch
    loss: Callable[[int, float, int], Any] = LabelSmoothingLoss
    schedule: Callable[[torch.optim.Optimizer, int, int], Any] = NOAM
    save: Callable[..., None] = save_checkpoint
    load: Callable[..., int] = load_checkpoint


OURS = Parts()


@dataclass
class Run:
    """What happened in training. Losses are means per target token, in nats, label
    smoothing included.
    """

    losses: list[float] = field(default_factory=list)
    """One for each step, those before an interruption included."""
    seconds: float = 0.0
    """Spent in this call, without what `watch` took."""
    tokens: int = 0
    """Target tokens learnt from in this call, padding not counted."""
    interrupted: bool = False

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def fit(
    model: nn.Module,
    batches: Batches,
    recipe: Recipe,
    *,
    vocab_size: int,
    parts: Parts = OURS,
    steps: int | None = None,
    checkpoint: Path | None = None,
    save_every: int = 500,
    watch: Callable[[int], None] | None = None,
    watch_every: int = 100,
    tensorboard: Path | None = None,
    seed: int = 0,
    name: str = "training",
) -> Run:
    """Train `model` by `recipe` until it has taken `recipe.steps` steps, or `steps`.

    `vocab_size` is that of the target. With a `checkpoint`, the run is saved there
    every `save_every` steps, at the end and after Ctrl-C, and the next call goes on
    from there: on a CPU with the same losses, bit for bit. `watch(steps_done)` is
    called before the first step, every `watch_every` steps and at the end; it may use
    the model as it likes, but mustn't change its weights. `tensorboard` is a folder for
    the curves of loss and learning rate, if TensorBoard is installed.
    """
    steps = recipe.steps if steps is None else steps
    device = best_device()
    model.to(device)
    torch.manual_seed(seed)  # for dropout
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)

    def clip(*_: object) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), recipe.max_norm)

    optimizer.register_step_pre_hook(clip)
    schedule = parts.schedule(optimizer, recipe.d_model, recipe.warmup_steps)
    loss_function = parts.loss(vocab_size, recipe.smoothing, 0)
    run, done = Run(), 0
    if checkpoint is not None and checkpoint.exists():
        done = parts.load(checkpoint, model, optimizer, schedule)
        run.losses = json.loads(_curve(checkpoint).read_text())[:done]
    curves = _writer(tensorboard)

    def noted(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = loss_function(logits, targets)
        run.losses.append(loss.item())
        run.tokens += int((targets != 0).sum())
        speed = run.tokens / (run.seconds + time.perf_counter() - start)
        bar.set_postfix_str(f"loss {run.losses[-1]:.4f}, {speed:,.0f} tokens/s", refresh=False)
        if curves is not None:
            curves.add_scalar("loss", run.losses[-1], len(run.losses))
            curves.add_scalar("learning rate", optimizer.param_groups[0]["lr"], len(run.losses) - 1)
        return loss

    stream, called = batches.endless(done), _InHalf(model) if device.type == "cuda" else model
    if watch is not None and done == 0:
        watch(0)
    remaining = range(done, steps)
    with stop_on_request() as request, Progress(remaining, initial=done, total=steps, desc=name) as bar:
        steps_to_take = iter(bar)
        for first in steps_to_take:
            last = min(steps, *(_next(first, every) for every in (watch_every, save_every)))
            start = time.perf_counter()
            piece = _piece(stream, chain([first], islice(steps_to_take, last - first - 1)), device, request)
            before = len(run.losses)
            parts.train_epoch(called, piece, noted, optimizer, schedule)
            run.seconds += time.perf_counter() - start
            done += len(run.losses) - before
            if watch is not None and (done % watch_every == 0 or done == steps):
                watch(done)
            if checkpoint is not None and (done % save_every == 0 or done == steps or request.made):
                _curve(checkpoint).write_text(json.dumps(run.losses))
                parts.save(checkpoint, model, optimizer, schedule, done)
            if request.made:
                break
        run.interrupted = request.made
    if curves is not None:
        curves.close()
    model.eval()
    return run


def mean_loss(model: nn.Module, batches: Batches, loss_function: Callable[..., torch.Tensor]) -> float:
    """The mean loss per target token on other examples: no dropout, nothing is learnt."""
    device = next(model.parameters()).device
    total = tokens = 0.0
    with evaluating(model):
        for source, target in batches.epoch(0):
            source, target = source.to(device), target.to(device)
            real = int((target[:, 1:] != 0).sum())
            total += float(loss_function(model(source, target[:, :-1]), target[:, 1:])) * real
            tokens += real
    return total / tokens


class _InHalf(nn.Module):
    """The model in bfloat16 where that is fast and safe, its logits in float32."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.can = torch.cuda.is_bf16_supported(including_emulation=False)  # emulated, it is slower than float32

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.can):
            logits: torch.Tensor = self.model(source, target_input)
        return logits.float()


def _piece(stream: Iterator[Batch], steps: Iterable[int], device: torch.device, request: Request) -> Iterator[Batch]:
    """A batch on the device for each of the steps; fewer if somebody asks to stop."""
    for _, (source, target) in zip(steps, stream, strict=False):
        yield source.to(device), target.to(device)
        if request.made:  # the step on this batch is over: the next one has been asked for
            return


def _next(done: int, every: int) -> int:
    return (done // every + 1) * every


def _curve(checkpoint: Path) -> Path:
    """The losses so far lie beside the checkpoint."""
    return checkpoint.with_suffix(".losses.json")


def _writer(folder: Path | None) -> Any:
    if folder is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        print("TensorBoard is not installed here, so no curves are written for it: pip install tensorboard")
        return None
    return SummaryWriter(str(folder))
