"""PyTorch's optimisers, for probes, without its compiler.

The first of PyTorch's own that is made imports the compiler: that takes a second, for which whoever checks an answer
waits. These are the same in everything else.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch


class _Plain(torch.optim.Optimizer):
    """The methods that PyTorch wraps so that its compiler keeps away from them, without the wrapping."""

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)


def _step(kind: type[torch.optim.Optimizer]) -> Any:
    plain = inspect.unwrap(kind.step)

    def step(self: torch.optim.Optimizer, closure: Any = None) -> Any:
        with torch.no_grad():  # as a decorator it would need PyTorch at once, which a browser hasn't got
            return plain(self, closure)

    return step


class SGD(_Plain, torch.optim.SGD):
    """`torch.optim.SGD`."""

    step = _step(torch.optim.SGD)


class Adam(_Plain, torch.optim.Adam):
    """`torch.optim.Adam`."""

    step = _step(torch.optim.Adam)
