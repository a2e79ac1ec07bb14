"""What a language model is trained on: windows of a text, each with the tokens that follow; how its loss is reported.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.
"""

import math
from collections.abc import Callable

import torch


def next_token_batches(
    ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random windows of a text, and the token that follows each token of them:
    (inputs, targets).

    `ids` is (n,), the whole text, with n greater than `length`. Both results are
    (batch_size, length), whole numbers. A row of the inputs is a window: `length`
    tokens of the text, side by side. The same row of the targets is the window one
    position later. Every window that has a target for its last token may be drawn, the
    last one included, and all are equally likely. A window may be drawn more than once.
    All randomness comes from `generator`.

    >>> ids = torch.tensor([7, 3, 9])  # a text with just one window of two tokens
    >>> inputs, targets = next_token_batches(ids, length=2, batch_size=1, generator=torch.Generator())
    >>> inputs, targets
    (tensor([[7, 3]]), tensor([[3, 9]]))
    """
    ### BEGIN SOLUTION
    starts = torch.randint(len(ids) - length, (batch_size, 1), generator=generator)  # (batch_size, 1)
    places = starts + torch.arange(length)  # (batch_size, length)
    return ids[places], ids[places + 1]
    ### END SOLUTION


def targets_are_next(
    make_batch: Callable[[torch.Tensor, torch.Generator], tuple[torch.Tensor, torch.Tensor]], ids: torch.Tensor
) -> bool:
    """Is every target the token that follows its input?

    `ids` is (n,), a text in which no token occurs twice, so each token but the last is
    followed by exactly one other. `make_batch(ids, generator)` returns a batch
    (inputs, targets), both (batch_size, length); it draws another one each time that
    it is called with the same generator. The answer is True when, in all batches, each
    target is what follows its input in `ids`. Some faults show in one batch of ten
    only: look at 100 of them.

    >>> def sound(ids, generator):
    ...     return next_token_batches(ids, 3, 2, generator)
    >>> def unshifted(ids, generator):
    ...     inputs, targets = sound(ids, generator)
    ...     return inputs, inputs
    >>> ids = torch.tensor([5, 2, 8, 1, 9, 4])
    >>> targets_are_next(sound, ids), targets_are_next(unshifted, ids)
    (True, False)
    """
    ### BEGIN SOLUTION
    follows = dict(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True))
    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        inputs, targets = make_batch(ids, generator)
        expected = [follows.get(token) for token in inputs.flatten().tolist()]
        if inputs.shape != targets.shape or expected != targets.flatten().tolist():
            return False
    return True
    ### END SOLUTION


def bits_per_character(total_loss: float, characters: int) -> float:
    """How many bits a model needs for each character of a text.

    `total_loss` is the loss over the whole text in nats: the sum of the cross-entropies
    of all its tokens, not their mean. `characters` is the number of characters that the
    tokens stand for. A bit is ln 2 nats. Returns a Python float. However a text was cut
    into tokens, it has the same number of characters, so models with different tokens
    can be compared.

    >>> round(bits_per_character(total_loss=13.86, characters=10), 2)
    2.0
    """
    return total_loss / math.log(2) / characters
