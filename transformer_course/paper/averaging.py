"""The mean of a model's last few weights: smoother than any single one, because the noise of the steps cancels.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 6.1: the base model is the average of its last
five checkpoints.
"""

from collections import deque

import torch
from torch import nn


class LastWeights:
    """Keeps copies of a model's most recent weights, and averages them.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> kept = LastWeights(model, count=2)
    >>> for value in (9.0, 1.0, 3.0):
    ...     _ = nn.init.constant_(model.weight, value)
    ...     kept.keep()
    >>> kept.average()
    >>> model.weight.item()
    2.0
    """

    def __init__(self, model: nn.Module, count: int = 5) -> None:
        self.model = model
        self.copies: deque[dict[str, torch.Tensor]] = deque(maxlen=count)

    def keep(self) -> None:
        """Copy the weights as they are now."""
        self.copies.append({name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()})

    def average(self) -> None:
        """Give the model the mean of the copies; without any, it stays as it is."""
        if self.copies:
            names = self.copies[0]
            self.model.load_state_dict({name: _mean([one[name] for one in self.copies]) for name in names})


def _mean(tensors: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([tensor.double() for tensor in tensors]).mean(dim=0).to(tensors[0].dtype)
