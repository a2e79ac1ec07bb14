"""Stopping when the validation loss no longer gets better, and going back to where it was best.

Source: Prechelt, "Early Stopping - But When?", in "Neural Networks: Tricks of the Trade", 1998, section 2.
"""

import math

import torch
from torch import nn


class EarlyStopping:
    """Says when to stop, and remembers the best weights.

    `step(loss, model)` is called with each new validation loss. It returns True when
    `patience` losses in a row have failed to beat the best one by more than
    `min_delta`. A loss that does beat it is the new best: the count starts again, and
    the model's weights are saved. The first loss is always the best so far. A loss
    that is NaN beats nothing.

    `restore(model)` loads the weights that were saved at the best loss. They are a
    copy: whatever training does to the model afterwards doesn't change them. `step`
    itself never changes the model.

    >>> model, stopping = nn.Linear(1, 1), EarlyStopping(patience=2)
    >>> [stopping.step(loss, model) for loss in (0.9, 0.5, 0.6, 0.5, 0.4)]
    [False, False, False, True, False]
    """

    def __init__(self, patience: int, min_delta: float = 0.0) -> None:
        ### BEGIN SOLUTION
        self.patience = patience
        self.min_delta = min_delta
        self.best = math.inf
        self.failures = 0
        self.weights: dict[str, torch.Tensor] = {}
        ### END SOLUTION

    def step(self, loss: float, model: nn.Module) -> bool:
        ### BEGIN SOLUTION
        if loss < self.best - self.min_delta:
            self.best = loss
            self.failures = 0
            self.weights = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        else:
            self.failures += 1
        return self.failures >= self.patience
        ### END SOLUTION

    def restore(self, model: nn.Module) -> None:
        ### BEGIN SOLUTION
        model.load_state_dict(self.weights)
        ### END SOLUTION
