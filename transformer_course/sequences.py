"""Sequences as targets: what the decoder is shown, and how its answers are scored. Padding never counts."""

import torch
from torch import nn


def shift_right(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    """What the decoder reads while it learns to write `targets`: each row moved one
    place right, after a start token.

    `targets` is (batch, length), and so is the result. The last column is dropped:
    nothing is written after it. `targets` itself stays as it is.

    >>> shift_right(torch.tensor([[5, 7, 9]]), start_id=1)
    tensor([[1, 5, 7]])
    """
    ### BEGIN SOLUTION
    start = torch.full_like(targets[:, :1], start_id)  # (batch, 1)
    return torch.cat([start, targets[:, :-1]], dim=1)
    ### END SOLUTION


def sequence_cross_entropy(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """How surprised the model is by the right token, averaged over all tokens of the
    batch except padding.

    `logits` is (batch, length, vocab_size), `targets` is (batch, length); both stay as
    they are. Returns a tensor of shape (): the mean of -log p(target) over all real
    tokens of the batch together, in nats. A mean of row means would be a different
    number.

    >>> even = torch.zeros(1, 3, 4)  # four symbols, all equally likely
    >>> sequence_cross_entropy(even, torch.tensor([[2, 3, 0]]))  # log(4)
    tensor(1.3863)

    Raises:
        ValueError: if every target is padding, so there is nothing to average.
    """
    ### BEGIN SOLUTION
    real = targets != pad_id  # (batch, length)
    if not real.any():
        raise ValueError("every target is padding: there is no token to average over")
    log_probabilities = torch.log_softmax(logits, dim=-1)  # (batch, length, vocab_size)
    of_targets = log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, length)
    return -of_targets[real].mean()
    ### END SOLUTION


def perplexity(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """The loss as a number of choices: exp of the mean surprise per real token.

    A model that hesitates between k equally likely symbols has perplexity k. The shapes
    are those of `sequence_cross_entropy`; the result is a tensor of shape () or a
    Python float.

    >>> perplexity(torch.zeros(1, 3, 4), torch.tensor([[2, 3, 0]]))
    tensor(4.)

    Raises:
        ValueError: if every target is padding.
    """
    ### BEGIN SOLUTION
    return sequence_cross_entropy(logits, targets, pad_id).exp()
    ### END SOLUTION


def token_accuracy(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """The share of all real tokens of the batch for which the right symbol has the
    highest logit.

    `logits` is (batch, length, vocab_size), `targets` is (batch, length). The result is
    one number: a tensor of shape () or a Python float.

    >>> logits = torch.eye(4)[[1, 2, 3]].unsqueeze(0)  # says 1, 2, 3
    >>> token_accuracy(logits, torch.tensor([[1, 3, 0]]))  # one of two; padding is not counted
    tensor(0.5000)

    Raises:
        ValueError: if every target is padding.
    """
    ### BEGIN SOLUTION
    real = targets != pad_id
    if not real.any():
        raise ValueError("every target is padding: there is no token to count")
    right = logits.argmax(dim=-1) == targets  # (batch, length)
    return right[real].to(logits.dtype).mean()
    ### END SOLUTION


def exact_match(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """The share of rows in which every real token is predicted correctly.

    `predictions` are ids (batch, any length), `targets` are ids (batch, length); both
    stay as they are. Whatever is predicted where the target is padding doesn't matter.
    Predictions narrower than the targets count as if padding followed them; extra
    columns are ignored. The result is one number: a tensor of shape () or a Python
    float.

    >>> exact_match(torch.tensor([[5, 7, 2], [5, 7, 9]]), torch.tensor([[5, 7, 0], [5, 8, 9]]))
    tensor(0.5000)
    """
    ### BEGIN SOLUTION
    length = targets.shape[1]
    missing = max(length - predictions.shape[1], 0)
    aligned = nn.functional.pad(predictions, (0, missing), value=pad_id)[:, :length]  # (batch, length)
    right = (aligned == targets) | (targets == pad_id)
    return right.all(dim=1).float().mean()
    ### END SOLUTION
