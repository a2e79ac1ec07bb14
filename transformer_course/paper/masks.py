"""The two masks of an encoder-decoder model, and a test that tells sound ones from broken ones.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.2.3.
"""

from collections.abc import Callable

import torch

from transformer_course.causal import causal_mask


def create_padding_mask(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """Which keys are real tokens? (batch, length) -> (batch, 1, 1, length), True where
    the token isn't padding.

    The two axes of size 1 stand for "every head" and "every query".

    >>> create_padding_mask(torch.tensor([[4, 7, 0]]))
    tensor([[[[ True,  True, False]]]])
    """
    ### BEGIN SOLUTION
    return (tokens != pad_id)[:, None, None, :]  # (batch, 1, 1, length)
    ### END SOLUTION


def create_masks(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both masks for one batch: (source_mask, target_mask), True = may attend.

    `source` is (batch, source_length), `target_input` is (batch, target_length), and
    padding is id 0. The source mask, (batch, 1, 1, source_length), hides the source's
    padding: the encoder uses it, and so does the cross-attention. The target mask,
    (batch, 1, target_length, target_length), hides the target's padding and whatever
    comes later. Both are boolean, and on the device of the ids.

    >>> source_mask, target_mask = create_masks(torch.tensor([[4, 7, 0]]), torch.tensor([[1, 5]]))
    >>> source_mask
    tensor([[[[ True,  True, False]]]])
    >>> target_mask
    tensor([[[[ True, False],
              [ True,  True]]]])
    """
    ### BEGIN SOLUTION
    not_later = causal_mask(target_input.shape[1]).to(target_input.device)  # (target_length, target_length)
    target_mask = create_padding_mask(target_input) & not_later  # (batch, 1, target_length, target_length)
    return create_padding_mask(source), target_mask
    ### END SOLUTION


def masks_are_sound(
    make_masks: Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
) -> bool:
    """Does `make_masks` let every real token see exactly what it should?

    `make_masks(source, target_input)` takes ids (batch, source_length) and
    (batch, target_length), padded on the right with id 0, and returns
    (source_mask, target_mask). Masks are sound when all of this holds:

    - they are boolean, True = may attend;
    - the source mask broadcasts to (batch, heads, queries, source_length) for any
      number of heads and of queries, since the encoder and the decoder both use it; it
      allows every real source token and no padding;
    - the target mask broadcasts to (batch, heads, target_length, target_length); each
      real token sees itself and the real tokens before it, and nothing else.

    What a padding token sees doesn't matter: nobody reads its output.

    >>> masks_are_sound(create_masks)
    True
    >>> masks_are_sound(lambda source, target_input: (create_padding_mask(source), causal_mask(9)))
    False
    """
    ### BEGIN SOLUTION
    batches = [
        # Rows of different lengths, all sizes different: a wrong axis can't broadcast by chance.
        ([[5, 3, 8, 0, 0], [4, 0, 0, 0, 0], [9, 2, 1, 6, 7]], [[1, 6, 4, 2], [1, 7, 0, 0], [1, 3, 5, 0]]),
        ([[3, 4, 2]], [[1, 2, 9, 4, 6, 5]]),  # a batch of one, without padding
    ]
    for rows, target_rows in batches:
        source, target = torch.tensor(rows), torch.tensor(target_rows)
        real = target != 0
        length = target.shape[1]
        allowed_source = (source != 0)[:, None, None, :]  # (batch, 1, 1, source_length)
        allowed_target = real[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
        try:
            source_mask, target_mask = make_masks(source, target)
            for mask, allowed, asking in [
                (source_mask, allowed_source, source != 0),  # in the encoder
                (source_mask, allowed_source, real),  # in the cross-attention
                (target_mask, allowed_target, real),
            ]:
                shape = (len(source), 2, asking.shape[1], allowed.shape[-1])  # (batch, heads, queries, keys)
                seen = mask.broadcast_to(shape).transpose(1, 2)[asking]  # (real queries, heads, keys)
                wanted = allowed.broadcast_to(shape).transpose(1, 2)[asking]
                if mask.dtype != torch.bool or not seen.equal(wanted):
                    return False
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return False  # masks that can't be made, or can't be used
    return True
    ### END SOLUTION
