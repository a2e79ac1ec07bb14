"""What is done to gradients before the optimiser sees them: cut down to size, or collected from several batches.

Sources: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", ICML 2013, section 3.2
(clipping by the norm); Goyal et al., "Accurate, Large Minibatch SGD", 2017 (why a large batch is worth having).
"""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import nn


def clip_gradients(parameters: Iterable[torch.Tensor], max_norm: float) -> float:
    """Scales the gradients down when their norm is larger than `max_norm`; returns the
    norm they had before, as a Python float.

    The norm is that of all gradients together, as if they were one long vector: the
    root of the sum of all their squares. If it exceeds `max_norm`, every `.grad` is
    multiplied by the same factor, so that the norm becomes `max_norm`. If it doesn't,
    the gradients stay as they are; that includes gradients that are all 0, whose norm
    is 0. Parameters whose `.grad` is None are skipped, and the parameters themselves
    never change. `parameters` may be any iterable, even one that you can loop over
    only once.

    >>> weight = torch.zeros(2, requires_grad=True)
    >>> weight.grad = torch.tensor([3.0, 4.0])
    >>> clip_gradients([weight], max_norm=1.0), weight.grad
    (5.0, tensor([0.6000, 0.8000]))

    Source: Pascanu et al. 2013, algorithm 1.
    """
    ### BEGIN SOLUTION
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = sum(float(gradient.square().sum()) for gradient in gradients) ** 0.5
    if norm > max_norm:
        for gradient in gradients:
            gradient.mul_(max_norm / norm)
    return float(norm)
    ### END SOLUTION


def accumulated_step(
    model: nn.Module,
    batches: Sequence[tuple[torch.Tensor, torch.Tensor]],
    loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    optimizer: torch.optim.Optimizer,
) -> float:
    """One step of the optimiser for all batches together, as if they were one large
    batch; returns the mean loss over all their rows, as a Python float.

    `batches` is a list of (inputs, targets). `loss_function(model(inputs), targets)`
    is the mean over the rows of one batch. Batches may have different numbers of rows:
    a row counts the same, whichever batch it is in. The point is to save memory: each
    batch goes through the model by itself, forwards and then backwards, so that what
    the backward pass needs is never kept for more than one batch at a time. Gradients
    left over from earlier have no effect.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = model.weight.data.fill_(0.0)
    >>> batches = [(torch.ones(3, 1), torch.ones(3, 1)), (torch.ones(1, 1), 5 * torch.ones(1, 1))]
    >>> accumulated_step(model, batches, nn.functional.mse_loss, torch.optim.SGD(model.parameters(), lr=0.5))
    7.0
    >>> model.weight.item()  # the mean of the four targets
    2.0
    """
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    rows = sum(len(inputs) for inputs, _ in batches)
    mean = 0.0
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets) * (len(inputs) / rows)
        loss.backward()  # type: ignore[no-untyped-call]
        mean += loss.item()
    optimizer.step()
    return mean
    ### END SOLUTION
