"""Better than what? Rewards compared with those of other answers to the same question, and with one another.

Sources: Shao and others, "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024,
section 4.1 (GRPO); Chen and others, "Evaluating Large Language Models Trained on Code", 2021, section 2.1 (pass@k).
"""

import math

import torch


def group_advantages(rewards: torch.Tensor, eps: float = 1e-4) -> torch.Tensor:
    """How much better each answer is than the others to the same question:
    (questions, samples) -> the same shape.

    From each reward, the mean of its row is subtracted; the result is divided by the
    row's standard deviation plus `eps`. For the standard deviation, the squares are
    added up and divided by samples - 1. There are at least two samples. Where all
    rewards of a row are the same, nobody was better, and the row is 0.

    >>> group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]))
    tensor([[ 1.4997, -0.4999, -0.4999, -0.4999],
            [ 0.0000,  0.0000,  0.0000,  0.0000]])

    Source: Shao and others 2024, section 4.1.2.
    """
    ### BEGIN SOLUTION
    centred = rewards - rewards.mean(dim=1, keepdim=True)  # (questions, samples)
    return centred / (rewards.std(dim=1, keepdim=True) + eps)
    ### END SOLUTION


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of k answers is right.

    Of `samples` answers to a question, `right` were right. k different ones of these
    are drawn, all choices equally likely: 1 - C(samples - right, k) / C(samples, k),
    where C(n, k) is the number of ways to choose k of n, 0 if k is larger than n.
    1 <= k <= samples. Returns a Python float.

    >>> pass_at_k(samples=4, right=1, k=2)
    0.5
    >>> pass_at_k(samples=16, right=16, k=1)
    1.0

    Source: Chen and others 2021, section 2.1.
    """
    ### BEGIN SOLUTION
    return 1 - math.comb(samples - right, k) / math.comb(samples, k)
    ### END SOLUTION
