"""How far a model sees: what moves when one digit of what it reads is changed."""

from collections.abc import Callable

import torch


def moved_by(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], source: torch.Tensor, target_input: torch.Tensor
) -> torch.Tensor:
    """Which outputs move when one digit of the source is changed?

    `model(source, target_input)` returns logits (batch, target_length, vocab_size). You
    get one sum: source is (1, source_length), target_input (1, target_length), ids in
    the alphabet of the addition task, where the digits 0 to 9 have the ids 1 to 10.
    Returns booleans (source_length, target_length): entry [i, j] is True when replacing
    the digit at i with some other digit moves at least one logit at target position j
    by more than 0.00001, up or down. All other tokens stay. The rows of tokens that
    aren't digits are False. Gradients aren't needed. Both arguments
    stay as they are.

    >>> model = lambda source, target: torch.stack([source[:, :1], source[:, 1:2]], dim=1) * 1.0
    >>> moved_by(model, torch.tensor([[4, 5, 11]]), torch.tensor([[12, 3]]))
    tensor([[ True, False],
            [False,  True],
            [False, False]])
    """
    ### BEGIN SOLUTION
    moved = torch.zeros(source.shape[1], target_input.shape[1], dtype=torch.bool)
    with torch.no_grad():
        before = model(source, target_input)  # (1, target_length, vocab_size)
        for place in range(source.shape[1]):
            if not 1 <= source[0, place] <= 10:
                continue
            for digit in range(1, 11):
                other = source.clone()
                other[0, place] = digit
                change = (model(other, target_input) - before).abs()  # (1, target_length, vocab_size)
                moved[place] |= (change > 1e-5).any(dim=-1)[0]
    return moved
    ### END SOLUTION
