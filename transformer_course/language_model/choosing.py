"""More ways to choose the next token of a text: by a share of the best, and with less of what was said before.

Sources: Nguyen et al., "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs", ICLR 2025; Keskar
et al., "CTRL: A Conditional Transformer Language Model for Controllable Generation", 2019, section 4.1.
"""

import torch


def min_p_filter(logits: torch.Tensor, min_p: float) -> torch.Tensor:
    """Keep the tokens that are at least `min_p` times as likely as the most likely one,
    and replace all other logits by -inf.

    `logits` is (batch, vocab_size). The result is a new tensor of the same shape.

    >>> min_p_filter(torch.tensor([[0.5, 0.3, 0.2]]).log(), min_p=0.5).exp()
    tensor([[0.5000, 0.3000, 0.0000]])

    Source: Nguyen et al. 2025, section 3.
    """
    probabilities = torch.softmax(logits, dim=-1)
    least = min_p * probabilities.amax(dim=-1, keepdim=True)  # (batch, 1)
    return logits.masked_fill(probabilities < least, -torch.inf)


def repetition_penalty(logits: torch.Tensor, said: torch.Tensor, penalty: float) -> torch.Tensor:
    """Make the tokens that were said less likely: a positive logit is divided by
    `penalty`, a negative one multiplied by it.

    `logits` is (batch, vocab_size), `said` holds ids, (batch, length). The result is a
    new tensor of the shape of `logits`. A penalty of 1 changes nothing.

    >>> repetition_penalty(torch.tensor([[2.0, -1.0, 3.0]]), torch.tensor([[0, 1, 0]]), penalty=2.0)
    tensor([[ 1., -2.,  3.]])

    Source: Keskar et al. 2019, section 4.1; negative logits as in the library
    `transformers`.
    """
    theirs = logits.gather(1, said)  # (batch, length)
    return logits.scatter(1, said, torch.where(theirs > 0, theirs / penalty, theirs * penalty))
