"""Dropout, from random numbers alone.

Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", JMLR 15, 2014,
section 4.
"""

import torch
from torch import nn


class Dropout(nn.Module):
    """Sets each number to 0 with probability `p` in training, and divides the others by
    1 - p, so that the expected value stays the same. In eval mode it changes nothing.

    Each number is dropped or kept independently of the others, and each call draws
    again. x may have any shape, and isn't changed. The result has the dtype of x:
    float16 stays float16.

    >>> dropout = Dropout(0.5)
    >>> sorted(set(dropout(torch.ones(1000)).tolist()))
    [0.0, 2.0]
    >>> dropout.eval()(torch.ones(3))
    tensor([1., 1., 1.])

    Raises:
        ValueError: for a `p` that isn't in [0, 1).

    Source: Srivastava et al. 2014, section 10: this is the "inverted" form, scaled in
    training, so that nothing has to be done when the model is used.
    """

    def __init__(self, p: float) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"p is the share to drop, at least 0 and less than 1, and this is {p}")
        self.p = p
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        if not self.training:
            return x
        kept = torch.rand(x.shape, device=x.device) >= self.p  # the shape of x
        return x * kept / (1 - self.p)
        ### END SOLUTION
