"""The paper's learning rate: up in a straight line, then down with the square root of the step.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 5.3.
"""

from collections.abc import Callable
from typing import Any

import torch


def noam_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """The learning rate for step `step`; steps count from 1.

    d_model ** -0.5 * min(step ** -0.5, step * warmup_steps ** -1.5): the rate rises in
    a straight line for `warmup_steps` steps, then falls with the square root of the
    step. A Python float.

    >>> f"{noam_learning_rate(4000, d_model=512, warmup_steps=4000):.6f}"  # the paper's peak
    '0.000699'

    Raises:
        ValueError: for a step before the first.

    Source: Vaswani et al. 2017, section 5.3, equation 3. People named the schedule
    after Noam Shazeer, one of the paper's authors.
    """
    ### BEGIN SOLUTION
    if step < 1:
        raise ValueError(f"steps count from 1, and this is step {step}")
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))
    ### END SOLUTION


class NoamSchedule:
    """Sets the learning rate of `optimizer` by `noam_learning_rate`.

    `step()` is called before each step of the optimiser: after its n-th call every
    parameter group has the rate of step n. It sets the rate and does nothing else: the
    optimiser's step and its gradients are other people's work.

    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.0)
    >>> schedule = NoamSchedule(optimizer, d_model=16, warmup_steps=4)
    >>> schedule.step()
    >>> optimizer.param_groups[0]["lr"]
    0.03125
    """

    def __init__(self, optimizer: torch.optim.Optimizer, d_model: int, warmup_steps: int) -> None:
        ### BEGIN SOLUTION
        self.optimizer = optimizer
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        self.steps = 0
        ### END SOLUTION

    def step(self) -> None:
        ### BEGIN SOLUTION
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = noam_learning_rate(self.steps, self.d_model, self.warmup_steps)
        ### END SOLUTION


class Counted:
    """A schedule whose state fits into a checkpoint, whatever it keeps itself: the
    number of steps it has taken. A fresh schedule that takes as many is where the old
    one was.
    """

    def __init__(self, schedule: Any) -> None:
        self.schedule, self.steps = schedule, 0

    def step(self) -> None:
        self.schedule.step()
        self.steps += 1

    def state_dict(self) -> dict[str, int]:
        return {"steps": self.steps}

    def load_state_dict(self, state: dict[str, int]) -> None:
        while self.steps < state["steps"]:
            self.step()


def resumable(schedule: Callable[[torch.optim.Optimizer, int, int], Any]) -> Callable[..., Counted]:
    """Makes `schedule(optimizer, d_model, warmup_steps)`, with a state for checkpoints."""
    return lambda optimizer, d_model, warmup_steps: Counted(schedule(optimizer, d_model, warmup_steps))
