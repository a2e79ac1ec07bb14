"""Speculative decoding: a cheap draft proposes, the target checks, and the result is distributed as the target says.

Sources: Leviathan, Kalman and Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023; Chen et
al., "Accelerating Large Language Model Decoding with Speculative Sampling", 2023.
"""

from collections.abc import Callable

import torch

from transformer_course.sampling import sample_with_temperature


def acceptance_rate(target: torch.Tensor, draft: torch.Tensor) -> torch.Tensor:
    """How likely it is that what the draft proposes is accepted: (..., vocab_size) ->
    (...,).

    Both are probabilities of the next token; each row sums to 1. The draft proposes
    token x with probability draft[x]. It is then accepted with probability
    min(1, target[x] / draft[x]). The result is the chance that the proposed token is
    accepted, whichever token it is. A token that the draft never proposes adds nothing.

    >>> acceptance_rate(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.75, 0.25, 0.0]))
    tensor(0.7500)

    Source: Leviathan et al. 2023, section 3.2.
    """
    ### BEGIN SOLUTION
    return torch.minimum(target, draft).sum(dim=-1)
    ### END SOLUTION


def leftover(target: torch.Tensor, draft: torch.Tensor) -> torch.Tensor:
    """The probabilities from which a rejected token's replacement is sampled:
    (..., vocab_size) -> (..., vocab_size).

    Both are probabilities of the next token; each row sums to 1. What is left over for
    a token is what the target gives it beyond what the draft gives it,
    max(0, target - draft). Each row is then scaled so that it sums to 1. Where the two
    rows are equal, nothing is left over; the result there is the target's own row.

    >>> leftover(torch.tensor([0.5, 0.25, 0.25]), torch.tensor([1.0, 0.0, 0.0]))
    tensor([0.0000, 0.5000, 0.5000])

    Source: Leviathan et al. 2023, section 2.3.
    """
    ### BEGIN SOLUTION
    beyond = (target - draft).clamp(min=0)  # (..., vocab_size)
    total = beyond.sum(dim=-1, keepdim=True)  # (..., 1)
    return torch.where(total > 0, beyond / total, target)
    ### END SOLUTION


def accept_or_replace(
    target: torch.Tensor, draft: torch.Tensor, proposed: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Accept each proposed token, or replace it, so that the result is distributed as
    the target says: (tokens, accepted).

    `target` and `draft` are probabilities, (batch, vocab_size). `proposed` is (batch,),
    one id a row, sampled from that row of the draft. A proposed token x is accepted
    with probability min(1, target[x] / draft[x]). If it is rejected, its replacement is
    sampled from that row's `leftover`. Each row decides for itself. `tokens` is
    (batch,), whole numbers; `accepted` is (batch,), booleans. All randomness comes from
    `generator`.

    >>> target, draft = torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0]])
    >>> accept_or_replace(target, draft, torch.tensor([0]), torch.Generator())
    (tensor([1]), tensor([False]))

    Source: Leviathan et al. 2023, algorithm 1; Chen et al. 2023, theorem 1.
    """
    ### BEGIN SOLUTION
    of_target = target.gather(1, proposed.unsqueeze(1)).squeeze(1)  # (batch,)
    of_draft = draft.gather(1, proposed.unsqueeze(1)).squeeze(1)  # (batch,)
    luck = torch.rand(len(proposed), generator=generator)  # (batch,), below 1
    accepted = luck * of_draft < of_target
    replacement = torch.multinomial(leftover(target, draft), 1, generator=generator).squeeze(1)  # (batch,)
    return torch.where(accepted, proposed, replacement), accepted
    ### END SOLUTION


def expected_tokens(rate: float, count: int) -> float:
    """How many tokens one pass of the target yields on average, when the draft proposes
    `count`.

    Each proposed token is accepted with the same probability `rate`, whatever happened
    to the others. Everything up to the first rejected token is kept, and so is its
    replacement; if all are accepted, the target adds one more. `rate` is from 0 to 1,
    `count` 0 or more. Returns a float.

    >>> expected_tokens(rate=0.5, count=2)  # 1 token for sure, a second with 0.5, a third with 0.25
    1.75

    Source: Leviathan et al. 2023, equation 1.
    """
    ### BEGIN SOLUTION
    return float(sum(rate**place for place in range(count + 1)))
    ### END SOLUTION


def speculative_step(
    target: Callable[[torch.Tensor], torch.Tensor],
    draft: Callable[[torch.Tensor], torch.Tensor],
    ids: torch.Tensor,
    count: int,
    generator: torch.Generator,
) -> torch.Tensor:
    """Let the draft propose `count` tokens and the target check all of them in one
    call: ids (length,) -> ids (length + 1,) to (length + count + 1,).

    `target(tokens)` and `draft(tokens)` turn ids (1, n) into logits (1, n, vocab_size).
    The draft reads everything so far, and the next token is sampled from
    softmax(logits) at the last position; it does so `count` times, and reads its own
    tokens each time. Then the target is called, once, with `ids` and all the proposed
    tokens. From left to right, each proposed token is accepted or replaced, as in
    `accept_or_replace`. The first one that is rejected is replaced, and all that was
    proposed after it is dropped. If every one was accepted, one more token is sampled
    from the target at the last position.

    `ids` has at least one token, and the result begins with all of them. With a `count`
    of 0, the draft isn't called. No gradients are recorded, and all randomness comes
    from `generator`.

    >>> def counts(tokens):  # certain that 3 comes after 2, and so on
    ...     return 100.0 * torch.nn.functional.one_hot(tokens + 1, 10)
    >>> speculative_step(counts, counts, torch.tensor([5, 2]), 3, torch.Generator())
    tensor([5, 2, 3, 4, 5, 6])

    Source: Leviathan et al. 2023, algorithm 1.
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        guesses = []
        proposed = ids
        for _ in range(count):
            logits = draft(proposed.unsqueeze(0))[:, -1]  # (1, vocab_size)
            guesses.append(logits.softmax(dim=-1))
            proposed = torch.cat([proposed, sample_with_temperature(logits, 1.0, generator)])
        wanted = target(proposed.unsqueeze(0))[0].softmax(dim=-1)  # (length + count, vocab_size)
        for place, guess in enumerate(guesses, start=len(ids)):
            says = wanted[place - 1 : place]  # (1, vocab_size): at a position, the logits are for the next one
            token, accepted = accept_or_replace(says, guess, proposed[place : place + 1], generator)
            if not accepted:
                return torch.cat([proposed[:place], token])
        last = torch.multinomial(wanted[-1], 1, generator=generator)  # (1,)
    return torch.cat([proposed, last])
    ### END SOLUTION


def keeps_the_distribution(
    speculate: Callable[[torch.Tensor, torch.Tensor, int, torch.Generator], torch.Tensor],
    target: torch.Tensor,
    draft: torch.Tensor,
) -> bool:
    """Does a sampler that speculates return tokens as often as the target says?

    `target` and `draft` are probabilities, (vocab_size,).
    `speculate(target, draft, count, generator)` returns `count` ids, (count,). For each,
    it has proposed a token from the draft, and has accepted or replaced it. The answer
    is True if it is sound: over many tokens, each comes up as often as the target says.
    A broken sampler gives at least one of these tokens a probability that is wrong by
    0.04 or more.

    Ask for 20,000 tokens or more in all, and at most 100,000 in one call. The answer
    must not be a matter of luck.

    >>> def accepts_everything(target, draft, count, generator):
    ...     return torch.multinomial(draft, count, replacement=True, generator=generator)
    >>> target, draft = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([0.6, 0.2, 0.2])
    >>> keeps_the_distribution(accepts_everything, target, draft)
    False
    """
    ### BEGIN SOLUTION
    count = 50_000
    tokens = speculate(target, draft, count, torch.Generator().manual_seed(0))
    shares = torch.bincount(tokens, minlength=len(target)) / count  # (vocab_size,)
    return bool(((shares - target).abs() < 0.02).all())  # chance alone: hardly ever more than 0.01
    ### END SOLUTION
