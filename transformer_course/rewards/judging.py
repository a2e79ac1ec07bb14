"""Rewards: one that can be trusted, one that can't, and a test that tells them apart."""

from collections.abc import Callable

import torch


def exact_reward(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """1 where all tokens of an answer are those of the truth, else 0: (batch, length) twice -> (batch,).

    >>> exact_reward(torch.tensor([[5, 8, 0], [5, 7, 0]]), torch.tensor([[5, 8, 0], [5, 8, 0]]))
    tensor([1., 0.])
    """
    return (answers == truth).all(dim=1).float()


def hasty_reward(answers: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """As somebody in a hurry wrote it: reads the digits of an answer up to anything else, and compares digit by digit.

    >>> hasty_reward(torch.tensor([[5, 8, 0], [5, 7, 0]]), torch.tensor([[5, 8, 0], [5, 8, 0]]))
    tensor([1., 0.])
    """
    earned = []
    for answer, wanted in zip(answers.tolist(), truth.tolist(), strict=True):
        end = next((place for place, token in enumerate(answer) if token > 9), len(answer))
        earned.append(float(all(mine == theirs for mine, theirs in zip(answer[:end], wanted, strict=False))))
    return torch.tensor(earned)


def reward_is_sound(reward: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> bool:
    """Does a reward give 1 to right answers, and 0 to all others?

    `reward(answers, truth)` takes two tensors of ids, both (batch, 3), and returns
    (batch,), a number for each row. An answer is any three of the 12 tokens: the digits
    0 to 9, plus (10) and equals (11). A truth has three digits, and each row has its
    own. A batch may have up to 20,000 rows. The result is True when a row earns exactly
    1 if its answer is the truth, token by token, and exactly 0 if it isn't. Whatever is
    wrong with a reward shows in some of the 1,728 answers to any truth whose digits all
    differ, or in a batch whose rows have different truths.

    >>> reward_is_sound(exact_reward)
    True
    >>> reward_is_sound(lambda answers, truth: (answers[:, 0] == truth[:, 0]).float())
    False
    """
    ### BEGIN SOLUTION
    answers = torch.cartesian_prod(*[torch.arange(12)] * 3)  # (1728, 3): all that there are
    digits = answers[(answers < 10).all(dim=1)]  # (1000, 3)
    one_truth = torch.tensor([2, 7, 1]).expand_as(answers)
    trials = [(answers, one_truth), (digits, digits)]
    for given, truth in trials:
        if not torch.equal(torch.as_tensor(reward(given, truth)).double(), (given == truth).all(dim=1).double()):
            return False
    return True
    ### END SOLUTION
