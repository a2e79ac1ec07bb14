"""Two moves that come back with attention: compare every row with every row, and pick one entry per row."""

import torch


def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of every row of `a` with every row of `b`, separately for each
    example in the batch.

    `a` is (batch, n, d), `b` is (batch, m, d); the result is (batch, n, m).
    Entry [i, j, k] is the dot product of `a[i, j]` and `b[i, k]`.

    >>> a = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])  # (1, 2, 2)
    >>> b = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])  # (1, 3, 2)
    >>> batched_dot(a, b)  # (1, 2, 3)
    tensor([[[1., 2., 3.],
             [3., 4., 7.]]])

    If the rows of `a` and `b` differ in length, and neither has length 1, PyTorch
    raises a RuntimeError.
    """
    ### BEGIN SOLUTION
    return torch.einsum("bnd,bmd->bnm", a, b)  # (batch, n, d) x (batch, m, d) -> (batch, n, m)
    ### END SOLUTION


def pick(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Pick one entry from each row.

    `values` is (n, k); `index` is (n,), whole numbers from 0 to k - 1; the result is
    (n,). Entry i of the result is `values[i, index[i]]`.

    >>> values = torch.tensor([[10.0, 11.0, 12.0], [20.0, 21.0, 22.0]])  # (2, 3)
    >>> pick(values, torch.tensor([2, 0]))  # (2,)
    tensor([12., 20.])
    """
    ### BEGIN SOLUTION
    column = index.unsqueeze(1)  # (n,) -> (n, 1): gather needs as many axes as `values` has
    return values.gather(1, column).squeeze(1)  # (n, k) -> (n, 1) -> (n,)
    ### END SOLUTION
