"""Drawing probabilities of the next token, of a target and of a draft."""

import numpy as np
import torch


def chances(generator: np.random.Generator, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Rows of probabilities, none of them small, no two alike."""
    numbers = generator.permuted(np.broadcast_to(np.linspace(0.2, 1.0, shape[-1]), shape).copy(), axis=-1)
    numbers = numbers + generator.uniform(0.0, 0.1, shape)
    return torch.from_numpy(numbers / numbers.sum(-1, keepdims=True)).to(dtype)


def with_zeros(chances: torch.Tensor, *tokens: int) -> torch.Tensor:
    """The same rows, in which these tokens have no chance."""
    thinned = chances.clone()
    thinned[..., list(tokens)] = 0.0
    return thinned / thinned.sum(-1, keepdim=True)
