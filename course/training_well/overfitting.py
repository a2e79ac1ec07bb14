"""The first test of any new model: can it learn a single batch by heart?"""

import math
from collections.abc import Callable
from typing import Any


def can_overfit(make_model: Callable[[], Any], train_step: Callable[[Any, Any], float], batch: Any) -> bool:
    """True when 300 steps on one batch bring the loss below 0.05.

    `make_model()` returns a new model. `train_step(model, batch)` trains it once on the
    batch, and returns the loss, a number. A loss that is NaN is not below anything.

    >>> can_overfit(lambda: [1.0], lambda model, batch: model.append(model[-1] * 0.9) or model[-1], None)
    True
    >>> can_overfit(lambda: [1.0], lambda model, batch: 0.7, None)
    False
    """
    ### BEGIN SOLUTION
    model = make_model()
    loss = math.inf
    for _ in range(300):
        loss = train_step(model, batch)
    return bool(loss < 0.05)
    ### END SOLUTION
