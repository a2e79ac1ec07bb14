"""Positions that a model meets in training although its sums are short, and a mask that looks at nearby ones only.

Sources: Ruoss et al., "Randomized Positional Encodings Boost Length Generalization of Transformers", ACL 2023, section
3, and McLeish et al., "Transformers Can Do Arithmetic with the Right Embeddings", NeurIPS 2024, section 3 (offsets);
Beltagy, Peters and Cohan, "Longformer", 2020, section 3.1 (windows).
"""

import torch


def random_offset_positions(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    """Positions in a row that begin at a random one: offset, offset + 1, ..., offset + length - 1.

    The offset is drawn with `generator`, each whole number from 0 to
    `max_length - length` being as likely as any other, both ends included. So every
    position is from 0 to max_length - 1. Returns whole numbers of shape (length,).

    >>> random_offset_positions(3, 3, torch.Generator())
    tensor([0, 1, 2])

    Raises:
        ValueError: when `length` is more than `max_length`.
    """
    ### BEGIN SOLUTION
    if length > max_length:
        raise ValueError(f"{length} positions don't fit into {max_length}")
    offset = torch.randint(max_length - length + 1, (1,), generator=generator)  # (1,)
    return offset + torch.arange(length)
    ### END SOLUTION


def windowed_mask(positions: torch.Tensor, window: int) -> torch.Tensor:
    """Which tokens may see each other: those whose positions differ by less than `window`.

    `positions` is (n,), whole numbers in any order. Returns a boolean tensor of shape
    (n, n): entry [i, j] is True when positions i and j differ by less than `window`.

    >>> windowed_mask(torch.tensor([2, 1, 0]), window=2)
    tensor([[ True,  True, False],
            [ True,  True,  True],
            [False,  True,  True]])
    """
    ### BEGIN SOLUTION
    distances = (positions.unsqueeze(1) - positions.unsqueeze(0)).abs()  # (n, n)
    return distances < window
    ### END SOLUTION
