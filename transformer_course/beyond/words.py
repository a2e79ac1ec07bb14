"""What a row of tokens comes down to: counts of its words, or the mean of its vectors."""

import torch


def masked_mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """For each row, the mean of the vectors that count.

    `x` is (batch, length, d); `mask` is boolean, (batch, length): True marks a
    vector that counts. Returns (batch, d). A row in which nothing counts gives zeros, and its
    gradient is zero too, not NaN.

    >>> x = torch.tensor([[[1.0, 10.0], [3.0, 30.0], [8.0, 80.0]]])
    >>> masked_mean(x, torch.tensor([[True, True, False]]))
    tensor([[ 2., 20.]])
    """
    ### BEGIN SOLUTION
    weights = mask.to(x.dtype).unsqueeze(-1)  # (batch, length, 1)
    total = (x * weights).sum(dim=1)  # (batch, d)
    count = weights.sum(dim=1).clamp(min=1)  # (batch, 1): at least 1, so that an empty row divides 0 by 1
    return total / count
    ### END SOLUTION


def bag_of_words(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    """How often each token occurs in each row, wherever it is.

    `tokens` are integers (batch, length) from 0 to vocab_size - 1. Returns counts,
    (batch, vocab_size), as whole or as floating-point numbers. The column of `pad_id`
    is zero.

    >>> bag_of_words(torch.tensor([[3, 1, 3, 0]]), vocab_size=5).tolist()
    [[0, 1, 0, 2, 0]]
    """
    ### BEGIN SOLUTION
    counts = torch.zeros(tokens.shape[0], vocab_size, dtype=torch.long, device=tokens.device)  # (batch, vocab_size)
    counts.scatter_add_(1, tokens, torch.ones_like(tokens))
    counts[:, pad_id] = 0
    return counts
    ### END SOLUTION
