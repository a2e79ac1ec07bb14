"""The first test of any new model: can it learn a single batch by heart?"""

import math
from collections.abc import Callable
from typing import Any


def can_overfit(make_model: Callable[[], Any], train_step: Callable[[Any, Any], float], batch: Any) -> bool:
    """Trains one new model on one batch for 300 steps; True if the last loss is below
    0.05, and False otherwise.

    `make_model()` returns a new model. `train_step(model, batch)` trains it for one step
    on the batch, and returns the loss, a number. What counts is the loss at the end, not
    the lowest one on the way: a run that learns the batch and then explodes hasn't passed.
    A loss that is NaN is not below anything.

    >>> def make_model():
    ...     return [1.0]
    >>> def train_step(model, batch):  # each loss is nine tenths of the one before
    ...     model[0] = 0.9 * model[0]
    ...     return model[0]
    >>> def stuck_step(model, batch):
    ...     return 0.7
    >>> can_overfit(make_model, train_step, "a batch"), can_overfit(make_model, stuck_step, "a batch")
    (True, False)
    """
    ### BEGIN SOLUTION
    model = make_model()
    loss = math.inf
    for _ in range(300):
        loss = train_step(model, batch)
    return bool(loss < 0.05)
    ### END SOLUTION
