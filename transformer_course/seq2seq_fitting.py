"""Training a sequence model with teacher forcing, asking it for predictions, and letting it write on its own.

What a lesson's learner has written (the shift, the loss) is handed in; later lessons leave it out and get the course's.
Everything runs on the device that the model is on.
"""

from collections.abc import Callable

import torch
from torch import nn

from transformer_course.progress import Progress
from transformer_course.sequences import sequence_cross_entropy, shift_right

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Shift = Callable[[torch.Tensor, int], torch.Tensor]


def best_device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_of(model: nn.Module) -> torch.device:
    """Where the model's parameters are; the CPU for a model without any."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


def fit(
    model: nn.Module,
    source: torch.Tensor,
    target: torch.Tensor,
    *,
    start_id: int,
    steps: int,
    batch_size: int = 64,
    learning_rate: float = 1e-3,
    seed: int = 0,
    shift: Shift = shift_right,
    loss_function: Loss = sequence_cross_entropy,
    watch: Callable[[int], None] | None = None,
    watch_every: int = 50,
    name: str = "training",
) -> list[float]:
    """Train with teacher forcing and Adam, on mini-batches drawn by `seed`: the loss
    before each step.

    `source` is (n, source_length), `target` (n, target_length). The decoder is shown
    `shift(target, start_id)`. `watch(steps_done)` is called before the first step,
    after every `watch_every` steps and at the end; it may measure what it likes, and
    the model is put back into training mode after it.
    """
    device = device_of(model)
    source, target = source.to(device), target.to(device)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    losses: list[float] = []
    model.train()
    order = torch.empty(0, dtype=torch.long)
    for step in (bar := Progress(range(steps), desc=name)):
        if watch is not None and step % watch_every == 0:
            watch(step)
            model.train()
        if len(order) < min(batch_size, len(source)):  # every example once, then all of them again in another order
            order = torch.cat([order, torch.randperm(len(source), generator=generator)])
        batch, order = order[:batch_size].to(device), order[batch_size:]
        answers = target[batch]  # (batch_size, target_length)
        loss = loss_function(model(source[batch], shift(answers, start_id)), answers)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        bar.show_loss(losses[-1])
    if watch is not None:
        watch(steps)
    model.eval()
    return losses


def predict(
    model: nn.Module,
    source: torch.Tensor,
    target: torch.Tensor,
    *,
    start_id: int,
    shift: Shift = shift_right,
    batch_size: int = 500,
) -> torch.Tensor:
    """The logits under teacher forcing, (n, target_length, vocab_size): the decoder is
    shown the right answer.
    """
    device = device_of(model)
    model.eval()
    with torch.no_grad():
        parts = [
            model(some.to(device), shift(answers, start_id).to(device)).cpu()
            for some, answers in zip(torch.split(source, batch_size), torch.split(target, batch_size), strict=True)
        ]
    return torch.cat(parts)


def generate(
    model: nn.Module, source: torch.Tensor, *, start_id: int, end_id: int, max_length: int, batch_size: int = 500
) -> torch.Tensor:
    """Let the model write: the ids (n, max_length) that it says, one after the other,
    each from those before.

    Nobody shows it a right answer: it reads what it has written itself. Behind the end
    token stands padding.
    """
    device = device_of(model)
    model.eval()
    rows = []
    with torch.no_grad():
        for some in torch.split(source.to(device), batch_size):
            written = torch.full((len(some), 1), start_id, device=device)  # (batch, 1)
            ended = torch.zeros(len(some), dtype=torch.bool, device=device)
            for _ in range(max_length):
                following = model(some, written)[:, -1].argmax(dim=-1)  # (batch,): what comes after the last token
                following = following.masked_fill(ended, 0)
                written = torch.cat([written, following[:, None]], dim=1)
                ended |= following == end_id
            rows.append(written[:, 1:].cpu())
    return torch.cat(rows)
