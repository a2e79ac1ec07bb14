"""What heads write into the residual stream, what it says about the next token, and what can be read from it.

Sources: Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021 (heads add up; the OV circuit); Alain
and Bengio, "Understanding intermediate layers using linear classifier probes", 2016.
"""

import torch


def head_writes(heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What each head adds to the residual stream.

    `heads` are the results of the heads, (batch, heads, length, d_head), and `weight` is
    that of the output layer, (d_model, d_model), as `nn.Linear` keeps it: a row for each
    number that goes out, a column for each that comes in. Head h comes in at the h-th
    block of d_head columns. Returns (batch, heads, length, d_model). Added up over the
    heads, this is what the output layer returns, without its bias.

    >>> heads = torch.tensor([[[[3.0]], [[5.0]]]])  # one row, two heads, one token, d_head 1
    >>> head_writes(heads, torch.tensor([[1.0, 10.0], [0.0, 1.0]])).tolist()
    [[[[3.0, 0.0]], [[50.0, 5.0]]]]

    Source: Elhage et al. 2021, "Attention Heads are Independent and Additive".
    """
    ### BEGIN SOLUTION
    d_model, (_, num_heads, _, d_head) = len(weight), heads.shape
    blocks = weight.reshape(d_model, num_heads, d_head)  # the columns, head by head
    return torch.einsum("bhnd,mhd->bhnm", heads, blocks)
    ### END SOLUTION


def ov_circuit(
    embedded: torch.Tensor, value: torch.Tensor, output: torch.Tensor, readout: torch.Tensor, num_heads: int
) -> torch.Tensor:
    """If a head attends to a symbol, which symbols does it vote for?

    `embedded` is (vocab_size, d_model): for each symbol, the vector that the head reads.
    `value` and `output` are weights of an attention layer, (d_model, d_model), `readout`
    is that of the last layer, (vocab_size, d_model), all as `nn.Linear` keeps them: a row
    for each number that goes out. Head h owns the h-th block of what `value` returns and
    of what `output` takes in. Biases are left out. Returns (heads, vocab_size,
    vocab_size): the entry [h, s, t] is how much head h adds to the logit of t when all its
    attention is on s.

    >>> eye = torch.eye(2)
    >>> ov_circuit(eye, eye, eye, torch.tensor([[1.0, 0.0], [7.0, 1.0]]), num_heads=1).tolist()
    [[[1.0, 7.0], [0.0, 1.0]]]

    Source: Elhage et al. 2021, "Splitting Attention Head terms into Query-Key and
    Output-Value Circuits".
    """
    ### BEGIN SOLUTION
    d_model = len(value)
    d_head = d_model // num_heads
    read = (embedded @ value.T).reshape(-1, num_heads, d_head)  # (vocab_size, heads, d_head)
    votes = (readout @ output).reshape(-1, num_heads, d_head)  # (vocab_size, heads, d_head)
    return torch.einsum("shd,thd->hst", read, votes)
    ### END SOLUTION


def linear_probe(states: torch.Tensor, labels: torch.Tensor, classes: int, ridge: float = 1.0) -> torch.Tensor:
    """The linear classifier that fits best, found in one step.

    `states` is (n, d), `labels` (n,) with classes from 0 to classes - 1. X is `states`
    with a last column of ones, (n, d + 1), and Y is (n, classes), with a 1 in the column
    of each row's class and zeros elsewhere. Returns the W, (d + 1, classes), for which the
    sum of squares of X W - Y, plus `ridge` times that of W, is smallest:

        W = (Xᵀ X + ridge · I)⁻¹ Xᵀ Y

    The class of a new state is the largest entry of [state, 1] W. A class may occur
    nowhere in `labels`. Both arguments stay as they are.

    >>> states = torch.tensor([[1.0], [-1.0]])
    >>> linear_probe(states, torch.tensor([0, 1]), classes=2, ridge=2.0)
    tensor([[ 0.2500, -0.2500],
            [ 0.2500,  0.2500]])

    Source: Alain and Bengio 2016 (probes); Hoerl and Kennard 1970 (ridge regression).
    """
    ### BEGIN SOLUTION
    x = torch.cat([states, torch.ones_like(states[:, :1])], dim=1)  # (n, d + 1)
    y = torch.nn.functional.one_hot(labels, classes).to(states.dtype)  # (n, classes)
    eye = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    weight: torch.Tensor = torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y)
    return weight
    ### END SOLUTION
