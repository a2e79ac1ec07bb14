"""A leash to the old model: how far the new one has gone, and how far it can get.

Sources: Schulman, "Approximating KL Divergence", 2020 (the estimate); Ziegler and others, "Fine-Tuning Language Models
from Human Preferences", 2019 (the penalty); Rafailov and others, "Direct Preference Optimization", NeurIPS
2023, section 4, equation 4 (the best policy on a leash).
"""

import torch


def kl_estimate(log_probs: torch.Tensor, reference_log_probs: torch.Tensor) -> torch.Tensor:
    """How far a model has moved from its reference, estimated for each token that it
    sampled: (batch, length) -> (batch, length).

    With d = reference_log_probs - log_probs, the estimate is exp(d) - d - 1. It is never
    negative, and 0 only where both models agree. No gradient flows into the reference.

    >>> kl_estimate(torch.tensor([[0.5, 0.2]]).log(), torch.tensor([[0.5, 0.4]]).log())
    tensor([[0.0000, 0.3069]])

    Source: Schulman 2020; Shao and others 2024, equation 4.
    """
    ### BEGIN SOLUTION
    difference = reference_log_probs.detach() - log_probs  # (batch, length)
    return difference.exp() - difference - 1
    ### END SOLUTION


def leashed_policy(reference: torch.Tensor, rewards: torch.Tensor, beta: float) -> torch.Tensor:
    """The best that a model can do on a leash: the probabilities that maximise
    expected reward - beta * KL(new, reference).

    `reference` holds the old probabilities of n answers, `rewards` what each earns; both
    are (..., n), and so is the result: reference * exp(rewards / beta), divided by the sum
    of its row. An answer that was impossible stays impossible. However small `beta` is
    (but greater than 0), the result is right.

    >>> leashed_policy(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]), beta=1.0)
    tensor([0.7311, 0.2689])

    Source: Rafailov and others 2023, equation 4.
    """
    ### BEGIN SOLUTION
    return torch.softmax(reference.log() + rewards / beta, dim=-1)
    ### END SOLUTION
