"""Rows of symbols that come twice, and a model that learns to copy them."""

from collections.abc import Callable

import torch
from torch import nn

from transformer_course.circuits.model import AttentionOnly, Edit
from transformer_course.progress import Progress

SYMBOLS = "abcdefghijklmnopqrstuvwxyz .,-'?"
"""What the 32 symbols are called, so that the model can be shown a text."""
LENGTH = 32
SHORTEST = 6


def repeated_rows(generator: torch.Generator, batch: int, row: int = LENGTH // 2, length: int = LENGTH) -> torch.Tensor:
    """Symbols drawn at random, (batch, length); the last `row` of them are those just before, once more.

    >>> tokens = repeated_rows(torch.Generator().manual_seed(0), batch=2, row=3, length=8)
    >>> tokens.shape, torch.equal(tokens[:, 2:5], tokens[:, 5:])
    (torch.Size([2, 8]), True)
    """
    drawn = torch.randint(len(SYMBOLS), (batch, length - row), generator=generator)
    return torch.cat([drawn, drawn[:, -row:]], dim=1)


def as_tokens(text: str) -> torch.Tensor:
    """A text as one row of tokens, (1, length); capitals become lower-case letters, and anything else becomes a "?".

    >>> as_tokens("Ada!").tolist()
    [[0, 3, 0, 31]]
    """
    return torch.tensor([[SYMBOLS.index(one if one in SYMBOLS else "?") for one in text.lower()]])


def copied(logits: torch.Tensor, tokens: torch.Tensor, row: int = LENGTH // 2) -> torch.Tensor:
    """Which symbols of the second copy are predicted right, (batch, row - 1): not its first, which nobody can know."""
    return logits[:, -row:-1].argmax(dim=-1) == tokens[:, -row + 1 :]


def copying_accuracy(model: AttentionOnly, edit: Edit | None = None, *, seed: int = 99, batch: int = 256) -> float:
    """The share of symbols of the second copy that are right, in new rows, with or without an edit."""
    tokens = repeated_rows(torch.Generator().manual_seed(seed), batch)
    with torch.no_grad():
        return copied(model(tokens, edit), tokens).float().mean().item()


def new_model(num_layers: int, seed: int = 0, d_model: int = 64, num_heads: int = 2) -> AttentionOnly:
    """An untrained model for these symbols; the global random numbers are left undisturbed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentionOnly(len(SYMBOLS), LENGTH, d_model, num_heads, num_layers)


def fit_copying(
    model: AttentionOnly,
    *,
    steps: int = 1500,
    seed: int = 0,
    name: str = "training",
    look: Callable[[int], None] | None = None,
    every: int = 50,
) -> list[float]:
    """Teaches a model to copy: new rows in each step, of 6 to 16 symbols. Returns the loss of each step.

    `look(step)`, if given, is called before the first step, after every `every` steps, and at the end.
    """
    generator = torch.Generator().manual_seed(seed + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    losses = []
    for step in (bar := Progress(range(steps), desc=name)):
        if look is not None and step % every == 0:
            look(step)
        row = int(torch.randint(SHORTEST, LENGTH // 2 + 1, (1,), generator=generator))
        tokens = repeated_rows(generator, 32, row)
        logits = model(tokens)[:, -row:-1]  # (32, row - 1, vocab_size)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -row + 1 :].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        bar.show_loss(losses[-1])
    if look is not None:
        look(steps)
    return losses
