"""The policy gradient: which way to go when only the outcome is known.

Sources: Williams, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning", Machine
Learning 8, 1992 (REINFORCE); Sutton and others, "Policy Gradient Methods for Reinforcement Learning with Function
Approximation", NIPS 1999.
"""

from collections.abc import Callable

import torch


def exact_gradient(logits: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
    """The gradient of the expected reward with respect to the logits, worked out by hand.

    One of n answers is drawn with the probabilities softmax(logits), and answer i earns
    `rewards[..., i]`. Both are (..., n), and so is the result: p_i * (r_i - E), where E
    is the expected reward, the sum of all p_j * r_j. Each row has its own E.

    >>> exact_gradient(torch.zeros(2), torch.tensor([1.0, 0.0]))
    tensor([ 0.2500, -0.2500])

    Source: Williams 1992, section 4, for a softmax.
    """
    ### BEGIN SOLUTION
    chances = torch.softmax(logits, dim=-1)  # (..., n)
    expected = (chances * rewards).sum(dim=-1, keepdim=True)  # (..., 1)
    return chances * (rewards - expected)
    ### END SOLUTION


def sample_answers(
    model: Callable[[torch.Tensor], torch.Tensor],
    prompts: torch.Tensor,
    samples: int,
    length: int,
    generator: torch.Generator,
) -> torch.Tensor:
    """Write several answers to each prompt: (batch, prompt_length) ->
    (batch * samples, prompt_length + length).

    Each row begins with its prompt; then come `length` tokens. The copies of a prompt
    are neighbours: first all answers to the first prompt, then those to the second.
    `model(tokens)` returns logits (rows, n, vocab_size), and those at the last position
    are about the next token. Each token is drawn from softmax(logits), for each row by
    itself, and then read by the model. No gradients are recorded. All randomness comes
    from `generator`.

    >>> def repeats(tokens):  # certain that the last token comes again
    ...     return 100.0 * torch.nn.functional.one_hot(tokens, 10)
    >>> sample_answers(repeats, torch.tensor([[7, 2], [1, 5]]), samples=2, length=1, generator=torch.Generator())
    tensor([[7, 2, 2],
            [7, 2, 2],
            [1, 5, 5],
            [1, 5, 5]])
    """
    ### BEGIN SOLUTION
    tokens = prompts.repeat_interleave(samples, dim=0)  # (batch * samples, prompt_length)
    with torch.no_grad():
        for _ in range(length):
            chances = torch.softmax(model(tokens)[:, -1], dim=-1)  # (batch * samples, vocab_size)
            drawn = torch.multinomial(chances, num_samples=1, generator=generator)  # (batch * samples, 1)
            tokens = torch.cat([tokens, drawn], dim=1)
    return tokens
    ### END SOLUTION


def answer_log_probs(logits: torch.Tensor, tokens: torch.Tensor, length: int) -> torch.Tensor:
    """How likely each token of an answer was: the logs of their probabilities,
    (batch, length).

    `tokens` is (batch, n), a prompt and an answer of `length` tokens at its end; `logits`
    is (batch, n, vocab_size), what a model says when it reads all of `tokens`. Logits
    at position i are about token i + 1. The prompt is at least one token long.

    >>> logits = torch.tensor([[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]]).log().unsqueeze(0)
    >>> answer_log_probs(logits, torch.tensor([[0, 1, 1]]), length=2).exp()
    tensor([[0.5000, 0.7500]])
    """
    ### BEGIN SOLUTION
    before = logits[:, -length - 1 : -1]  # (batch, length, vocab_size): each says what comes next
    answer = tokens[:, -length:].unsqueeze(-1)  # (batch, length, 1)
    return torch.log_softmax(before, dim=-1).gather(-1, answer).squeeze(-1)
    ### END SOLUTION


def policy_gradient_loss(log_probs: torch.Tensor, advantages: torch.Tensor) -> torch.Tensor:
    """What to minimise so that good answers become more likely: a tensor of shape ().

    `log_probs` is (batch, length), those of the tokens of each answer; `advantages` is
    (batch,), one number an answer. The loss is minus the mean, over all tokens, of the
    token's log-probability times the advantage of its answer. The advantages are
    numbers to multiply by: no gradient flows into them.

    >>> policy_gradient_loss(torch.tensor([[-1.0, -2.0], [-3.0, -4.0]]), torch.tensor([1.0, 0.0]))
    tensor(0.7500)

    Source: Williams 1992, section 5, episodic REINFORCE.
    """
    ### BEGIN SOLUTION
    return -(advantages.detach().unsqueeze(1) * log_probs).mean()
    ### END SOLUTION
