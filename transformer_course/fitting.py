"""Training a classifier of token rows, and counting what it gets right: the same few lines for every lesson."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from transformer_course.progress import Progress


def fit(
    model: nn.Module,
    tokens: torch.Tensor,
    labels: torch.Tensor,
    *,
    steps: int = 1000,
    batch_size: int = 128,
    learning_rate: float = 1e-3,
    seed: int = 0,
    name: str = "training",
    look: Callable[[int], None] | None = None,
    every: int = 50,
) -> list[float]:
    """Train `model` with Adam on random mini-batches, and return the loss of each step.

    `tokens` is (n, length), `labels` is (n,) with the number of the right class;
    `model(tokens)` is (n, classes). The loss is the cross-entropy. The model changes in
    place, and lies on the GPU afterwards where there is one. `seed` decides which
    examples come when; the model's first weights are the caller's business.
    `look(step)`, if given, is called before the first step, after every `every` steps,
    and at the end, to measure what it likes.

    >>> model = nn.Sequential(nn.Embedding(3, 2), nn.Flatten())  # (n, 1) -> (n, 2)
    >>> losses = fit(model, torch.tensor([[1], [2]]), torch.tensor([0, 1]), steps=50, learning_rate=0.1)
    >>> len(losses), losses[-1] < 0.1 < losses[0]
    (50, True)
    """
    device = best_device()
    model.to(device).train()
    tokens, labels = tokens.to(device), labels.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for step in (bar := Progress(range(steps), desc=name)):
        if look is not None and step % every == 0:
            look(step)
        chosen = torch.randint(len(tokens), (batch_size,), generator=generator).to(device)
        loss = nn.functional.cross_entropy(model(tokens[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        bar.show_loss(losses[-1])
    if look is not None:
        look(steps)
    return losses


def predict(model: nn.Module, tokens: torch.Tensor, batch_size: int = 1024) -> torch.Tensor:
    """The logits of all rows, (n, classes), on the CPU: no gradients, no dropout, a
    batch at a time.

    >>> predict(nn.Sequential(nn.Embedding(3, 2), nn.Flatten()), torch.tensor([[1], [2]])).shape
    torch.Size([2, 2])
    """
    device = device_of(model)
    with evaluating(model):
        return torch.cat([model(rows.to(device)).cpu() for rows in torch.split(tokens, batch_size)])


def accuracy(model: nn.Module, tokens: torch.Tensor, labels: torch.Tensor) -> float:
    """The share of rows whose highest logit is the right class.

    >>> model = nn.Sequential(nn.Embedding.from_pretrained(torch.eye(2)), nn.Flatten())  # says the token itself
    >>> accuracy(model, torch.tensor([[0], [1], [1]]), torch.tensor([0, 1, 0]))
    0.6666666865348816
    """
    return (predict(model, tokens).argmax(dim=-1) == labels).float().mean().item()


def best_device() -> torch.device:
    """The GPU, where there is one that PyTorch can use, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_of(model: nn.Module) -> torch.device:
    """Where a model's parameters lie; the CPU for a model without any."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Meanwhile the model is in eval mode and records no gradients; afterwards each
    part is as it was.

    >>> model = nn.Dropout()
    >>> with evaluating(model):
    ...     model.training, torch.is_grad_enabled()
    (False, False)
    >>> model.training
    True
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
