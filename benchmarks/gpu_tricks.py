"""What lesson 10's tricks do to a step of training on this device: milliseconds, and the most memory that it takes.

    python -m benchmarks.gpu_tricks

Two models: the one of the lesson, which has 32 numbers a letter and one layer, and one of the paper's base size, with
16 rows of 512 on each side. Each trick is timed by itself: the median of 20 steps after 5.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.fitting import best_device
from transformer_course.lessons.lesson_10.experiments.letters import Reverser, letters, row_loss
from transformer_course.lessons.lesson_10.experiments.speed import fused

WARMING, TIMED = 5, 20
TRICKS = {
    "plain": "",
    "bfloat16": "b",
    "fused attention": "f",
    "bfloat16 and fused attention": "bf",
    "compiled": "c",
    "all three": "bfc",
}
Sized = tuple[Callable[[], nn.Module], tuple[torch.Tensor, ...], torch.Tensor]


def of_the_lesson() -> Sized:
    """The lesson's own model, and a batch of 64 rows."""
    inputs, targets = letters(64, validation=1).train
    return Reverser, (inputs,), targets


def of_the_papers_size() -> Sized:
    """Six layers on each side, 512 numbers a token, 16 rows of 512."""
    ids = torch.randint(1, 1000, (2, 16, 512))
    return lambda: CausalSeq2SeqTransformer(1000, 514, 512, 8, 2048, 6), (ids[0], ids[1]), ids[1]


def step_of(sized: Sized, trick: str, device: torch.device) -> Callable[[], None]:
    """One step of training with the trick, on the device; returns once the device has finished it."""
    build, inputs, targets = sized
    torch.manual_seed(0)
    model = build().to(device)
    inputs, targets = tuple(each.to(device) for each in inputs), targets.to(device)
    if "f" in trick:
        fused(model)
    called = torch.compile(model) if "c" in trick else model
    half = torch.autocast(device.type, torch.bfloat16) if "b" in trick else contextlib.nullcontext()
    optimizer = torch.optim.AdamW(model.parameters())

    def step() -> None:
        with half:
            logits = called(*inputs)
        loss = row_loss(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # waits for the device

    return step


def main() -> None:
    """Prints a table for each size."""
    device, console = best_device(), Console(width=120)
    console.print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name() if device.type == 'cuda' else 'CPU'}")
    for size in (of_the_papers_size, of_the_lesson):
        table = Table("trick", "milliseconds", "of plain", "MB at most", box=None, title=size.__doc__)
        plain = None
        for name, trick in TRICKS.items():
            step = step_of(size(), trick, device)
            for _ in range(WARMING):
                step()
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()
            spent = []
            for _ in range(TIMED):
                start = time.perf_counter()
                step()
                spent.append(1000 * (time.perf_counter() - start))
            median = statistics.median(spent)
            plain = plain or median
            most = f"{torch.cuda.max_memory_allocated() / 1e6:,.0f}" if device.type == "cuda" else ""
            table.add_row(name, f"{median:.2f}", f"{median / plain:.2f}", most)
            del step
        console.print(table)


if __name__ == "__main__":
    main()
