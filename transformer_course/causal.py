"""A mask that hides the future: how to find the leak, how to close it, and a model that keeps it closed."""

from collections.abc import Callable

import torch

from transformer_course.attention import padding_mask
from transformer_course.seq2seq import Seq2SeqTransformer


def causal_mask(length: int) -> torch.Tensor:
    """Which positions may each position look at? Itself, and what came before.

    Returns a boolean tensor of shape (length, length): entry [i, j] is True when
    position i may attend to position j, that is when j <= i.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])

    Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.2.3.
    """
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool).tril()
    ### END SOLUTION


def decoder_mask(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """One mask that hides the future and the padding: (batch, length) ->
    (batch, 1, length, length).

    Entry [b, 0, i, j] is True when j <= i and token j of row b is not padding.

    >>> decoder_mask(torch.tensor([[1, 7, 0]]))
    tensor([[[[ True, False, False],
              [ True,  True, False],
              [ True,  True, False]]]])
    """
    ### BEGIN SOLUTION
    not_later = causal_mask(targets.shape[1]).to(targets.device)  # (length, length)
    return padding_mask(targets, pad_id) & not_later  # (batch, 1, 1, length) & (length, length)
    ### END SOLUTION


def future_leak(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], source: torch.Tensor, target_input: torch.Tensor
) -> float:
    """How far changing a later target token moves an earlier logit: 0 for a model that
    can't see the future.

    `model(source, target_input)` returns logits (batch, length, vocab_size); it may be
    any callable. Changes the target tokens one position at a time, each to a different
    id, and looks only at the logits before that position. Finds a leak from a single
    position to a single other one, in a batch of one too. Returns one number: the
    largest difference of a logit, whether it rises or falls. The model and its
    arguments are left unchanged.

    >>> def peeks(source, target_input):
    ...     return torch.nn.functional.one_hot(target_input.roll(-1, dims=1), 9).float()  # reads the next token
    >>> future_leak(peeks, torch.tensor([[3, 5]]), torch.tensor([[1, 4, 6]])) > 0
    True
    """
    ### BEGIN SOLUTION
    highest = max(int(source.max()), int(target_input.max()), 2)
    largest = 0.0
    with torch.no_grad():
        logits = model(source, target_input)
        for place in range(1, target_input.shape[1]):  # nothing comes before the first position
            for step in (1, 2, 3):
                changed = target_input.clone()
                changed[:, place] = (target_input[:, place] - 1 + step) % highest + 1  # an id from 1 to the highest
                earlier = (model(source, changed) - logits)[:, :place]
                largest = max(largest, earlier.abs().max().item())
    return largest
    ### END SOLUTION


class CausalSeq2SeqTransformer(Seq2SeqTransformer):
    """The model of lesson 4 with `decoder_mask` built in: it can't look ahead, neither
    in training nor when it writes.

    `decode(target_input, encoder_states, source, target_mask=None)` hides the future
    and the target's padding. If a mask is passed in, a position is seen only where both
    masks allow it.

    >>> model = CausalSeq2SeqTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> model(torch.randint(1, 13, (5, 9)), torch.randint(1, 13, (5, 4))).shape
    torch.Size([5, 4, 13])
    """

    def decode(
        self,
        target_input: torch.Tensor,
        encoder_states: torch.Tensor,
        source: torch.Tensor,
        target_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        mask = decoder_mask(target_input)  # (batch, 1, target_length, target_length)
        if target_mask is not None:
            mask = mask & target_mask
        return super().decode(target_input, encoder_states, source, mask)
        ### END SOLUTION
