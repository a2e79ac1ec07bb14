"""Sampling the next token: at what temperature, from which tokens, and which of several whole answers to keep.

Sources: Ackley, Hinton and Sejnowski, "A Learning Algorithm for Boltzmann Machines", 1985 (temperature); Fan, Lewis
and Dauphin, "Hierarchical Neural Story Generation", ACL 2018, section 5 (top-k); Holtzman et al., "The Curious Case
of Neural Text Degeneration", ICLR 2020, section 3.1 (top-p).
"""

from collections.abc import Callable

import torch


def sample_with_temperature(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """Sample one token for each row, with probabilities softmax(logits / temperature).

    `logits` is (batch, vocab_size), and stays as it is; a token whose logit is -inf is
    never sampled. Returns ids (batch,). Temperature 1 samples from the model's own
    distribution, a lower temperature is more cautious, a higher one is bolder, and 0
    always takes the most likely token. All randomness comes from `generator`: the same
    seed gives the same tokens.

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
    """Keep the k largest logits of each row and replace all others by -inf.

    `logits` is (batch, vocab_size). The result is a new tensor of the same shape. `k`
    is at least 1; if it is larger than vocab_size, every token is kept.

    >>> top_k_filter(torch.tensor([[1.0, 4.0, 2.0, 3.0]]), k=2)
    tensor([[-inf, 4., -inf, 3.]])
    """
    ### BEGIN SOLUTION
    largest = logits.topk(min(k, logits.shape[-1]), dim=-1).values  # (batch, k), the largest first
    return logits.masked_fill(logits < largest[:, -1:], -torch.inf)
    ### END SOLUTION


def top_p_filter(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the smallest set of tokens whose probabilities sum to at least p, and
    replace all other logits by -inf.

    `logits` is (batch, vocab_size). The result is a new tensor of the same shape.
    Tokens join the set in order of probability, the most likely first, and the token
    that brings the sum to p is included. The set is never empty: even with p = 0 the
    most likely token stays. With p = 1 every token stays, except those whose
    probability is lost in rounding.

    >>> logits = torch.tensor([[0.1, 0.6, 0.3]]).log()
    >>> top_p_filter(logits, p=0.7).exp()  # 0.6 doesn't reach 0.7; 0.6 + 0.3 does
    tensor([[0.0000, 0.6000, 0.3000]])
    """
    ### BEGIN SOLUTION
    ordered, places = logits.sort(dim=-1, descending=True)  # (batch, vocab_size) each
    probabilities = torch.softmax(ordered, dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities  # the total of the more likely tokens
    dropped = before >= p  # p was reached without this token
    dropped[:, 0] = False
    kept = ordered.masked_fill(dropped, -torch.inf)
    return torch.empty_like(logits).scatter(-1, places, kept)  # back to where they came from
    ### END SOLUTION


def generate(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
    temperature: float,
    k: int,
    p: float,
    generator: torch.Generator,
) -> torch.Tensor:
    """Write an answer to each source, and sample every token: temperature first, then
    top-k, then top-p.

    The logits of the next token are divided by `temperature`. Of what results, the `k`
    largest are kept; of those, the smallest set whose probabilities, taken among the k,
    sum to at least `p`. The token is sampled from the rest. Temperature 0 always takes
    the most likely token. All randomness comes from `generator`. `model`, `source` and
    the result are as in `greedy_decode`: the end is kept, padding (id 0) follows it,
    and there are at most `max_length` columns.

    >>> def wavering(source, target_input):  # writes 2, 3 or 4, then the end, 1; 9 is the start
    ...     after = {9: [0, 0, 0.5, 0.3, 0.2]}
    ...     rows = [[after.get(i, [0, 1, 0, 0, 0]) for i in row] for row in target_input.tolist()]
    ...     return torch.tensor(rows).log()
    >>> five = torch.zeros(5, 1, dtype=torch.long)
    >>> ids = generate(wavering, five, 9, 1, max_length=4, temperature=1.0, k=2, p=1.0, generator=torch.Generator())
    >>> set(ids[:, 0].tolist()) <= {2, 3}, ids[:, 1].tolist()
    (True, [1, 1, 1, 1, 1])
    """
    ### BEGIN SOLUTION
    written = torch.full_like(source[:, :1], start_id)  # (batch, 1)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    with torch.no_grad():
        for _ in range(max_length):
            logits = model(source, written)[:, -1]  # (batch, vocab_size)
            if temperature == 0:
                next_ids = logits.argmax(dim=-1)
            else:
                filtered = top_p_filter(top_k_filter(logits / temperature, k), p)
                next_ids = sample_with_temperature(filtered, 1.0, generator)  # the temperature is in there already
            next_ids = next_ids.masked_fill(ended, 0)
            written = torch.cat([written, next_ids.unsqueeze(1)], dim=1)
            ended = ended | (next_ids == end_id)
            if ended.all():
                break
    return written[:, 1:]
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
    """Sample n answers to each source, and keep the one that the model finds most
    likely.

    Each token is sampled at temperature 1, and all randomness comes from `generator`.
    The log-likelihood of an answer is the sum of the log-probabilities of its tokens up
    to and including the end; nothing after the end counts. Every row of the batch keeps
    its own best answer. `model`, `source` and the result are as in `greedy_decode`: the
    end is kept, padding (id 0) follows it, and there are at most `max_length` columns.

    >>> def sure(source, target_input):  # certain that the source comes next, and then the end, 1
    ...     following = torch.where(target_input == 9, source, 1)
    ...     return 100.0 * torch.nn.functional.one_hot(following, 10)
    >>> best_of_n(sure, torch.tensor([[4], [2]]), 9, 1, max_length=3, n=5, generator=torch.Generator())
    tensor([[4, 1],
            [2, 1]])
    """
    ### BEGIN SOLUTION
    repeated = source.repeat_interleave(n, dim=0)  # (batch * n, source_length): copies of a row are neighbours
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
