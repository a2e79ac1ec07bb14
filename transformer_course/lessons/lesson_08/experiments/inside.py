"""What layers do to what passes through them: how large the vectors get, and which token moves which output."""

from collections.abc import Callable

import torch
from torch import nn


@torch.no_grad()
def sizes_on_the_way(make_layer: Callable[[], nn.Module], layers: int = 6, seed: int = 0) -> list[float]:
    """The standard deviation of the numbers in x (4, 10, 64), before and after each fresh layer."""
    torch.manual_seed(seed)
    x = torch.randn(4, 10, 64)
    sizes = [x.std().item()]
    for _ in range(layers):
        x = make_layer().eval()(x)
        sizes.append(x.std().item())
    return sizes


@torch.no_grad()
def movements(outputs_of: Callable[[torch.Tensor], torch.Tensor], tokens: torch.Tensor) -> torch.Tensor:
    """How far each output moves when one of `tokens` (1, tokens, d_model) is replaced: (outputs, tokens).

    >>> movements(lambda tokens: tokens.cumsum(dim=1), torch.zeros(1, 3, 8)) > 0
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    """
    before = outputs_of(tokens)
    columns = []
    for place in range(tokens.shape[1]):
        changed = tokens.clone()
        changed[:, place] = torch.randn(tokens.shape[2])
        columns.append((outputs_of(changed) - before).norm(dim=-1)[0])  # (outputs,)
    return torch.stack(columns, dim=1)
