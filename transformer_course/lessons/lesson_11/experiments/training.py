"""One training loop for all language models of this lesson, and how they are examined: in bits per character."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd
import torch
from torch import nn

from transformer_course.fitting import best_device, device_of, evaluating
from transformer_course.language_model.batches import bits_per_character, next_token_batches
from transformer_course.lessons.lesson_11.experiments.corpus import Corpus
from transformer_course.progress import Progress
from transformer_course.training_well.gradients import clip_gradients
from transformer_course.training_well.schedule import warmup_schedule

WARMUP, MAX_NORM, RATE = 50, 1.0, 4e-3


@dataclass
class Run:
    """What happened in training."""

    model: nn.Module
    losses: list[float] = field(default_factory=list)
    """Of each step, in nats per token."""
    seconds: float = 0.0
    """Processor time of all steps."""
    seen: list[dict[str, float]] = field(default_factory=list)
    """Each time somebody looked: the step, and the bits per character of held-out text."""

    @property
    def curve(self) -> pd.DataFrame:
        return pd.DataFrame(self.seen)


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def fit(
    model: nn.Module,
    corpus: Corpus,
    steps: int,
    *,
    length: int = 32,
    batch_size: int = 32,
    rate: float = RATE,
    batches: Callable[..., tuple[torch.Tensor, torch.Tensor]] = next_token_batches,
    seed: int = 0,
    name: str = "training",
    look: Callable[[int, nn.Module], dict[str, float]] | None = None,
    look_at: tuple[int, ...] = (),
) -> Run:
    """Train on random windows: AdamW, a warm-up and a cosine, gradients clipped at 1, as in lesson 10.

    Only parameters that want gradients learn. `look(step, model)` is called after the steps in `look_at`, 0 among
    them, and what it returns is noted. The model lies on the CPU then, and afterwards.
    """
    device = best_device()
    model.to(device).train()
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=rate)
    generator = torch.Generator().manual_seed(seed)
    run = Run(model)

    def seen(step: int) -> None:
        if look is not None and step in look_at:
            run.seen.append({"step": step, "seconds": run.seconds, **look(step, model.cpu())})
            model.to(device).train()

    seen(0)
    for step in (bar := Progress(range(1, steps + 1), desc=name)):
        start = time.process_time()
        inputs, targets = (part.to(device) for part in batches(corpus.train, length, batch_size, generator))
        for group in optimizer.param_groups:
            group["lr"] = warmup_schedule(step, min(WARMUP, steps // 4), steps, rate)
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_gradients(learning, MAX_NORM)
        optimizer.step()
        run.seconds += time.process_time() - start
        run.losses.append(loss.item())
        bar.show_loss(run.losses[-1])
        seen(step)
    model.cpu().eval()
    return run


def losses_of(model: nn.Module, ids: torch.Tensor, length: int) -> torch.Tensor:
    """The loss of each token but the first, in nats, (n - 1,). Windows overlap by half, so that from the second half of
    the first window on, each token is predicted from at least length / 2 others."""
    half, device = length // 2, device_of(model)
    inputs, targets = ids[:-1], ids[1:]
    starts = list(range(0, max(1, len(inputs) - length + 1), half))
    whole = torch.stack([torch.arange(start, start + length) for start in starts if start + length <= len(inputs)])
    losses = torch.zeros(len(inputs))
    with evaluating(model):
        for places in torch.split(whole, 64):
            logits = model(inputs[places].to(device)).cpu()
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), targets[places], reduction="none")
            first = places[:, :1] == 0
            later = first | (torch.arange(length) >= half)  # in the first window all of them count
            losses[places[later]] = loss[later]
    return losses[: int(whole.max()) + 1]


def bits(
    model: nn.Module,
    corpus: Corpus,
    length: int,
    in_bits: Callable[[float, int], float] = bits_per_character,
    ids: torch.Tensor | None = None,
) -> float:
    """Bits per character of the held-out text, or of other `ids`."""
    text = corpus.held_out if ids is None else ids
    losses = losses_of(model, text, length)
    return float(in_bits(losses.double().sum().item(), len(corpus.decode(text[1 : len(losses) + 1]))))


def by_position(model: nn.Module, corpus: Corpus, length: int) -> pd.DataFrame:
    """What does the context buy? The mean loss, in bits per token, after 1, 2, ... `length` tokens of context.

    The targets are the same for each: the held-out tokens that have `length` others before them, but for the very last.
    """
    bits_after = context_losses(model, corpus, length).mean(dim=0) / math.log(2)
    return pd.DataFrame({"tokens read": range(1, length + 1), "bits per token": bits_after.tolist()})


def context_losses(model: nn.Module, corpus: Corpus, length: int) -> torch.Tensor:
    """The loss of each target, in nats, after 1, 2, ... `length` tokens of context: (targets, length).

    A window gives the loss of its first target after one token, of the next after two, and so on. With a window at
    each token of the text, every target is met after every number of tokens, on a diagonal.
    """
    windows = corpus.held_out.unfold(0, length + 1, 1)
    with evaluating(model):
        parts = [
            nn.functional.cross_entropy(model(part[:, :-1]).transpose(1, 2), part[:, 1:], reduction="none")
            for part in torch.split(windows, 128)
        ]
    losses, count = torch.cat(parts), len(windows) - length + 1
    return torch.stack([losses[length - read :, read - 1][:count] for read in range(1, length + 1)], dim=1)


def looked(corpus: Corpus, length: int) -> Callable[[int, nn.Module], dict[str, float]]:
    """A look at the bits per character."""
    return lambda step, model: {"bits": bits(model, corpus, length)}
