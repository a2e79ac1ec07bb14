"""A learning rate that rises in a straight line and falls along a cosine.

Sources: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017, section 3 (the
cosine); Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 2.2 (the warm-up).
"""

import math


def warmup_schedule(step: int, warmup_steps: int, total_steps: int, peak: float) -> float:
    """The learning rate for step `step`; steps count from 1. A Python float.

    It rises in a straight line, from peak / warmup_steps at step 1 to peak at step
    warmup_steps. Then it falls along half a cosine wave, to 0 at step total_steps:

        peak * (1 + cos(pi * progress)) / 2

    where progress goes from 0 at warmup_steps to 1 at total_steps. After total_steps
    the rate is 0.

    >>> [round(warmup_schedule(step, 2, 6, peak=0.4), 3) for step in range(1, 8)]
    [0.2, 0.4, 0.341, 0.2, 0.059, 0.0, 0.0]

    Source: Loshchilov and Hutter 2017, equation 5, without restarts.
    """
    ### BEGIN SOLUTION
    if step <= warmup_steps:
        return float(peak * step / warmup_steps)
    if step >= total_steps:
        return 0.0
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return float(peak * (1 + math.cos(math.pi * progress)) / 2)
    ### END SOLUTION
