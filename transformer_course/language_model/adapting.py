"""Adapting a trained model with a few new weights.

Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", ICLR 2022.
"""

import torch
from torch import nn


class LoRALinear(nn.Module):
    """A trained Linear layer that stays as it is, and a small correction that learns.

    `self.base` is the trained layer; its weight and bias are frozen: they want no
    gradient any more. `self.down`, (rank, in), and `self.up`, (out, rank), are the
    parameters of the correction. `down` starts with random numbers and `up` with zeros,
    so at first the layer gives what `linear` gives. They have the dtype of the
    trained weight.
    `forward(x)`: (..., in) -> (..., out): base(x) + alpha / rank * up(down(x)), where
    down and up multiply as the weights of Linear layers do.

    `merged()` returns a new, plain `nn.Linear` that gives the same outputs, with a bias
    where `linear` has one. It shares no weights with this layer, which stays as it is.

    >>> layer = LoRALinear(nn.Linear(6, 4), rank=2, alpha=8.0)
    >>> [name for name, weights in layer.named_parameters() if weights.requires_grad]
    ['down', 'up']
    >>> x = torch.randn(3, 6)
    >>> torch.allclose(layer.merged()(x), layer(x), atol=1e-6)
    True

    Source: Hu et al. 2022, section 4.1.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.base = linear.requires_grad_(False)
        self.scale = alpha / rank
        like = linear.weight
        self.down = nn.Parameter(torch.randn(rank, linear.in_features).to(like) / linear.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank).to(like))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        correction = x @ self.down.T @ self.up.T  # (..., in) -> (..., rank) -> (..., out)
        output: torch.Tensor = self.base(x) + self.scale * correction
        return output
        ### END SOLUTION

    def merged(self) -> nn.Linear:
        ### BEGIN SOLUTION
        base = self.base
        plain = nn.Linear(base.in_features, base.out_features, bias=base.bias is not None).to(base.weight)
        with torch.no_grad():
            plain.weight.copy_(base.weight + self.scale * self.up @ self.down)
            if base.bias is not None:
                plain.bias.copy_(base.bias)
        return plain
        ### END SOLUTION
