"""Letting a language model write on.

Source: Holtzman et al., "The Curious Case of Neural Text Degeneration", ICLR 2020, section 3.1 (top-p).
"""

from collections.abc import Callable

import torch

from transformer_course.sampling import sample_with_temperature, top_p_filter


def continue_text(
    model: Callable[[torch.Tensor], torch.Tensor],
    prompt: torch.Tensor,
    max_new_tokens: int,
    temperature: float,
    top_p: float,
    generator: torch.Generator,
) -> torch.Tensor:
    """Let a language model write on: ids (length,) -> ids (length + max_new_tokens,).

    `model(tokens)` turns ids (1, length) into logits (1, length, vocab_size). `prompt`
    has at least one id, and the result begins with all of it. For each new token, the
    last logits are divided by `temperature`. Of what results, the smallest set of
    tokens whose probabilities sum to at least `top_p` is kept, and one of those is
    sampled. Temperature 0 always takes the most likely token.

    A model that has an attribute `max_length` reads no more than that many tokens: of a
    longer text it gets only the end. A model without one gets everything. No gradients
    are recorded, and all randomness comes from `generator`.

    >>> def counts(tokens):  # certain that 3 comes after 2, and so on
    ...     return 100.0 * torch.nn.functional.one_hot(tokens + 1, 10)
    >>> continue_text(counts, torch.tensor([5, 2]), 3, temperature=1.0, top_p=0.9, generator=torch.Generator())
    tensor([5, 2, 3, 4, 5])
    """
    ### BEGIN SOLUTION
    ids = prompt
    context = getattr(model, "max_length", None)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            read = ids if context is None else ids[-context:]
            logits = model(read.unsqueeze(0))[:, -1]  # (1, vocab_size): what comes after the last token
            if temperature == 0:
                token = logits.argmax(dim=-1)
            else:
                token = sample_with_temperature(top_p_filter(logits / temperature, top_p), 1.0, generator)
            ids = torch.cat([ids, token])
    return ids
    ### END SOLUTION
