"""One training loop with a switch for every trick of lesson 10. The learner's own parts come in as `Parts`."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.lessons.lesson_10.experiments.letters import (
    Letters,
    Reverser,
    Tensors,
    renamed,
    row_loss,
    scores,
)
from transformer_course.lessons.lesson_10.experiments.speed import checkpointed, fused
from transformer_course.progress import Progress
from transformer_course.timing import try_to_compile
from transformer_course.training_well.checkpointing import run_checkpointed
from transformer_course.training_well.dropout import Dropout
from transformer_course.training_well.gradients import accumulated_step, clip_gradients
from transformer_course.training_well.half import half_precision_step
from transformer_course.training_well.schedule import warmup_schedule
from transformer_course.training_well.stopping import EarlyStopping


@dataclass(frozen=True)
class Parts:
    """What lesson 10 builds. The course's own, unless a learner brings theirs."""

    schedule: Callable[[int, int, int, float], float] = warmup_schedule
    clip: Callable[..., float] = clip_gradients
    accumulate: Callable[..., float] = accumulated_step
    dropout: type[nn.Module] = Dropout
    stopping: Callable[..., Any] = EarlyStopping
    run: Callable[..., torch.Tensor] = run_checkpointed
    half: Callable[..., float] = half_precision_step


OURS = Parts()


@dataclass(frozen=True)
class Recipe:
    """How to train. Without any argument, it is the plain run that every trick is compared with."""

    steps: int = 300
    batch_size: int = 64
    rate: float = 0.005
    schedule: str = "constant"
    """Or "warm-up and cosine", or "plateau": multiply the rate by 0.3 when the validation loss stops falling."""
    warmup: int = 30
    max_norm: float = float("inf")
    pieces: tuple[int, ...] = ()
    """Rows in each piece of a batch; empty: the whole batch at once."""
    smoothing: float = 0.0
    p: float = 0.0
    augment: bool = False
    patience: int = 0
    """Look at the validation loss so many times without a better one, then stop and go back to the best; 0: never."""
    weight_decay: float = 0.0
    precision: torch.dtype | None = None
    scaled: bool = False
    checkpointed: bool = False
    compiled: bool = False
    fused: bool = False
    watch_every: int = 25
    d_model: int = 32
    num_layers: int = 1


@dataclass
class Run:
    """What happened in training."""

    model: nn.Module
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    """The norm of all gradients together, before clipping, at each step."""
    rates: list[float] = field(default_factory=list)
    seen: list[dict[str, float]] = field(default_factory=list)
    """Every `watch_every` steps: the step, and the scores on both sets of rows."""
    seconds: list[float] = field(default_factory=list)
    """Of each step."""
    stopped_at: int | None = None
    problem: str = ""
    """Why something could not be done here, in a sentence."""

    @property
    def curve(self) -> pd.DataFrame:
        return pd.DataFrame(self.seen)

    @property
    def last(self) -> dict[str, float]:
        return self.seen[-1]

    @property
    def milliseconds(self) -> float:
        """The median time of a step."""
        return 1000 * statistics.median(self.seconds)


def train(
    recipe: Recipe, data: Letters, parts: Parts = OURS, *, seed: int = 0, name: str = "training", model: Any = None
) -> Run:
    """Train a new Reverser by the recipe, or the `model` that is handed in; look at it every `watch_every` steps."""
    torch.manual_seed(seed)
    if model is None:
        model = Reverser(recipe.d_model, recipe.num_layers, parts.dropout, recipe.p)
    run = Run(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay)
    # Without a limit there is nothing to clip, and infinity was never asked of the learner's function.
    clip = parts.clip if math.isfinite(recipe.max_norm) else clip_gradients
    optimizer.register_step_pre_hook(lambda *_: run.norms.append(float(clip(model.parameters(), recipe.max_norm))))
    called = _prepared(model, recipe, data, parts, run)
    scaler = torch.amp.GradScaler("cpu", enabled=recipe.scaled)
    stopping = parts.stopping(recipe.patience) if recipe.patience else None
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=1)
    generator = torch.Generator().manual_seed(seed)

    def loss_function(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return scaler.scale(row_loss(logits, targets, recipe.smoothing))

    for step in (bar := Progress(range(1, recipe.steps + 1), desc=name)):
        rows = torch.randint(len(data.train[0]), (recipe.batch_size,), generator=generator)
        inputs, targets = data.train[0][rows], data.train[1][rows]
        if recipe.augment:
            inputs, targets = renamed(inputs, targets, generator)
        if recipe.schedule == "warm-up and cosine":
            for group in optimizer.param_groups:
                group["lr"] = parts.schedule(step, recipe.warmup, recipe.steps, recipe.rate)
        run.rates.append(optimizer.param_groups[0]["lr"])
        model.train()
        scale = scaler.get_scale()
        stepped: Any = _Scaled(optimizer, scaler) if recipe.scaled else optimizer
        start = time.process_time()
        if recipe.precision is None:
            loss = parts.accumulate(called, cut(inputs, targets, recipe.pieces), loss_function, stepped)
        else:
            loss = parts.half(called, inputs, targets, loss_function, stepped, recipe.precision)
        run.seconds.append(time.process_time() - start)
        run.losses.append(loss / scale)
        bar.show_loss(run.losses[-1])
        if step % recipe.watch_every == 0 or step == recipe.steps:
            _look(run, step, data)
            if recipe.schedule == "plateau":
                plateau.step(run.last["loss"])
            if stopping is not None and stopping.step(run.last["loss"], model):
                run.stopped_at = step
                break
    if stopping is not None:
        stopping.restore(model)
        _look(run, run.stopped_at or recipe.steps, data)
    model.eval()
    return run


class _Scaled:
    """An optimiser that takes the scale off the gradients before it steps, and skips a step with infinite ones."""

    def __init__(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> None:
        self.optimizer, self.scaler = optimizer, scaler

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.optimizer.zero_grad(set_to_none)

    def step(self) -> None:
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def _prepared(model: nn.Module, recipe: Recipe, data: Letters, parts: Parts, run: Run) -> nn.Module:
    """The model as it is called in training: with its blocks checkpointed, its attention fused, or compiled."""
    if recipe.checkpointed:
        checkpointed(model, parts.run)
    if recipe.fused:
        fused(model)
    if not recipe.compiled:
        return model
    compiled, _, run.problem = try_to_compile(model, data.train[0][: recipe.batch_size])
    return model if compiled is None else compiled  # type: ignore[return-value]


def cut(inputs: torch.Tensor, targets: torch.Tensor, pieces: tuple[int, ...]) -> list[Tensors]:
    """The batch in pieces of these sizes; in one piece without any."""
    sizes = list(pieces or (len(inputs),))
    return list(zip(torch.split(inputs, sizes), torch.split(targets, sizes), strict=True))


def _look(run: Run, step: int, data: Letters) -> None:
    """The scores on the validation rows, and on as many of those for training."""
    some = tuple(part[: len(data.validation[0])] for part in data.train)
    trained = {f"training {name}": value for name, value in scores(run.model, (some[0], some[1])).items()}
    run.seen.append({"step": step, **scores(run.model, data.validation), **trained})
