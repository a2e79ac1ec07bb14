"""Drawing the next token by lot: how bold, from how many, and which of several whole answers to keep.

Sources: Ackley, Hinton and Sejnowski, "A Learning Algorithm for Boltzmann Machines", 1985 (temperature); Fan, Lewis
and Dauphin, "Hierarchical Neural Story Generation", ACL 2018, section 5.1 (top-k); Holtzman et al., "The Curious Case
of Neural Text Degeneration", ICLR 2020, section 3.1 (top-p).
"""

from collections.abc import Callable

import torch


def sample_with_temperature(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """Draws one token for each row, with the probabilities softmax(logits / temperature).

    `logits` is (batch, vocab_size); -inf stands for a token that can't be drawn. Returns ids (batch,). Temperature 1
    draws from the model's own distribution, a lower one is more careful, a higher one bolder; 0 takes the likeliest
    token. All chance comes from `generator`: the same seed gives the same tokens.

    >>> logits = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    >>> sample_with_temperature(logits, 0.0, torch.Generator())
    tensor([1, 0])
    >>> sample_with_temperature(logits, 1.0, torch.Generator().manual_seed(0)).shape
    torch.Size([2])
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        return logits.argmax(dim=-1)  # (batch,)
    probabilities = torch.softmax(logits / temperature, dim=-1)  # (batch, vocab_size)
    return torch.multinomial(probabilities, num_samples=1, generator=generator).squeeze(1)  # (batch,)
    ### END SOLUTION


def top_k_filter(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Keeps the k largest logits of each row, and puts -inf in the place of all others.

    `logits` is (batch, vocab_size), and so is the result, which is a new tensor. `k` is at least 1; one above
    vocab_size keeps all.

    >>> top_k_filter(torch.tensor([[1.0, 4.0, 2.0, 3.0]]), k=2)
    tensor([[-inf, 4., -inf, 3.]])
    """
    ### BEGIN SOLUTION
    largest = logits.topk(min(k, logits.shape[-1]), dim=-1).values  # (batch, k), the largest first
    return logits.masked_fill(logits < largest[:, -1:], -torch.inf)
    ### END SOLUTION


def top_p_filter(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keeps the smallest set of tokens whose probabilities sum to p or more, and puts -inf in the place of all others.

    `logits` is (batch, vocab_size), and so is the result, which is a new tensor. The likeliest tokens come first into
    the set, and the token that reaches p is in it. The set is never empty: even for p = 0 the likeliest token stays.
    p = 1 keeps all whose probability is more than rounding.

    >>> logits = torch.tensor([[0.1, 0.6, 0.3]]).log()
    >>> top_p_filter(logits, p=0.7).exp()  # 0.6 does not reach 0.7, 0.6 + 0.3 does
    tensor([[0.0000, 0.6000, 0.3000]])
    """
    ### BEGIN SOLUTION
    ordered, places = logits.sort(dim=-1, descending=True)  # (batch, vocab_size) each
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities  # the mass of the likelier tokens
    dropped = before >= p  # p was reached without this token
    dropped[:, 0] = False
    kept = ordered.masked_fill(dropped, -torch.inf)
    return torch.empty_like(logits).scatter(-1, places, kept)  # back to where they came from
    ### END SOLUTION


def best_of_n(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
    n: int,
    generator: torch.Generator,
) -> torch.Tensor:
    """Writes n answers to each source by lot, and keeps the one that the model finds likeliest.

    Each token is drawn at temperature 1, with chance from `generator` alone. The likelihood of an answer is the sum
    of the log-probabilities of its tokens, its end included, at the moment they were drawn; padding counts nothing.
    Each row of the batch keeps its own best. `model`, `source` and the form of the result are those of
    `greedy_decode`: the end is kept, padding (id 0) stands behind it, at most `max_length` columns.

    >>> def sure(source, target_input):  # knows for certain that source comes next, and then the end, 1
    ...     following = torch.where(target_input == 9, source, 1)
    ...     return 100.0 * torch.nn.functional.one_hot(following, 10)
    >>> best_of_n(sure, torch.tensor([[4], [2]]), 9, 1, max_length=3, n=5, generator=torch.Generator())
    tensor([[4, 1],
            [2, 1]])
    """
    ### BEGIN SOLUTION
    repeated = source.repeat_interleave(n, dim=0)  # (batch * n, source_length): a source's answers are neighbours
    written = torch.full_like(repeated[:, :1], start_id)
    ended = torch.zeros(len(repeated), dtype=torch.bool, device=source.device)
    likelihood = torch.zeros(len(repeated), device=source.device)
    with torch.no_grad():
        for _ in range(max_length):
            logits = model(repeated, written)[:, -1]  # (batch * n, vocab_size)
            drawn = sample_with_temperature(logits, 1.0, generator).masked_fill(ended, 0)
            of_drawn = torch.log_softmax(logits, dim=-1).gather(1, drawn.unsqueeze(1)).squeeze(1)
            likelihood = likelihood + of_drawn.masked_fill(ended, 0.0)
            written = torch.cat([written, drawn.unsqueeze(1)], dim=1)
            ended = ended | (drawn == end_id)
            if ended.all():
                break
    best = likelihood.reshape(-1, n).argmax(dim=1)  # (batch,)
    return written.reshape(len(source), n, -1)[torch.arange(len(source)), best, 1:]
    ### END SOLUTION
