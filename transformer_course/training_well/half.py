"""A step of training in numbers of 16 bits, with the weights in 32.

Source: Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.
"""

from collections.abc import Callable

import torch
from torch import nn


def half_precision_step(
    model: nn.Module,
    inputs: torch.Tensor,
    targets: torch.Tensor,
    loss_function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    optimizer: torch.optim.Optimizer,
    dtype: torch.dtype,
) -> float:
    """One step of training under autocast in `dtype`; returns the loss, as a Python
    float.

    `dtype` is torch.bfloat16 or torch.float16. The model and the loss function run under
    autocast: the layers compute in `dtype`, the weights stay float32. Autocast is switched
    on for the type of device that `inputs` are on, and is off again afterwards. `inputs`
    and `targets` are passed on as they are; they may be ids. Gradients left over from
    earlier have no effect. Scaling the loss, which float16 may need, is the caller's job:
    inside `loss_function` and the optimiser.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = model.weight.data.fill_(0.0)
    >>> sgd = torch.optim.SGD(model.parameters(), lr=0.5)
    >>> half_precision_step(model, torch.ones(3, 1), torch.ones(3, 1), nn.functional.mse_loss, sgd, torch.bfloat16)
    1.0
    >>> model.weight.item(), model.weight.dtype
    (1.0, torch.float32)

    Source: Micikevicius et al. 2018, section 3.1.
    """
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    with torch.autocast(inputs.device.type, dtype=dtype):
        loss = loss_function(model(inputs), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()
    ### END SOLUTION
