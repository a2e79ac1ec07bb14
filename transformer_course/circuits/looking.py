"""What heads look at, as a number for each head.

Source: Olsson et al., "In-context Learning and Induction Heads", 2022: previous-token heads and induction heads.
"""

import torch


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    """How much of its attention does each head give to the position just before?

    `weights` is (batch, heads, length, length), and the entry [b, h, q, k] is how much
    position q of row b attends to position k. Returns (heads,): the mean attention from
    a position to the one before it, over all rows and all positions but the first, which
    has none before it. The length is at least 2. `weights` stays as it is.

    >>> previous_token_score(torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]]]))
    tensor([0.7000])

    Source: Olsson et al. 2022, head activation evaluators in the appendix.
    """
    ### BEGIN SOLUTION
    before = weights.diagonal(offset=-1, dim1=-2, dim2=-1)  # (batch, heads, length - 1): [q, q - 1] for q = 1, 2, ...
    return before.mean(dim=(0, 2))
    ### END SOLUTION


def follower_mask(tokens: torch.Tensor) -> torch.Tensor:
    """Which positions hold what once came after the token that is read now?

    `tokens` is (batch, length). Returns booleans, (batch, length, length): the entry
    [b, q, k] is True when position k - 1 is before q and holds the same token as q. So k
    is q at most, and the column of k = 0 is False. A token that occurred several times
    has several followers.

    >>> follower_mask(torch.tensor([[5, 8, 5]])).int()  # the second 5 is read: after the first came the 8
    tensor([[[0, 0, 0],
             [0, 0, 0],
             [0, 1, 0]]], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    length = tokens.shape[1]
    same = tokens.unsqueeze(2) == tokens.unsqueeze(1)  # (batch, length, length): [q, j], do they hold the same token?
    earlier = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril(-1)
    followers = torch.zeros_like(same)
    followers[:, :, 1:] = (same & earlier)[:, :, :-1]  # what comes after position j is at j + 1
    return followers
    ### END SOLUTION


def attention_on(weights: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """How much of its attention does each head give to the targets?

    `weights` is (batch, heads, length, length), and [b, h, q, k] is how much position q
    attends to position k. `targets` is boolean, (batch, length, length): [b, q, k] is
    True where k is a target of q. A position may have several targets: what it gives to
    them is added up. Returns (heads,): the mean over those positions of all rows that
    have a target at all, and zeros where none has. Both arguments stay as they are.

    >>> weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.1, 0.7, 0.2]]]])
    >>> targets = torch.tensor([[[False, False, False], [False, False, False], [False, True, True]]])
    >>> attention_on(weights, targets)
    tensor([0.9000])
    """
    ### BEGIN SOLUTION
    on_targets = (weights * targets.unsqueeze(1)).sum(dim=-1)  # (batch, heads, length)
    asked = targets.any(dim=-1).sum()  # how many positions have a target
    return on_targets.sum(dim=(0, 2)) / asked.clamp(min=1)
    ### END SOLUTION
