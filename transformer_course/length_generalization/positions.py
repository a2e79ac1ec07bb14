"""Positions that a model uses in training although its sums are short, their vectors, and a mask for nearby ones.

Sources: Ruoss et al., "Randomized Positional Encodings Boost Length Generalization of Transformers", ACL 2023, section
3, and McLeish et al., "Transformers Can Do Arithmetic with the Right Embeddings", NeurIPS 2024, section 3 (offsets);
Beltagy, Peters and Cohan, "Longformer", 2020, section 3.1 (windows).
"""

import torch
from torch import nn


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


class PlaceEmbedding(nn.Module):
    """A learned vector for each place, in a table that a row may enter anywhere.

    `vectors` is an `nn.Embedding` with `num_rows` rows of `d_model` numbers.
    `forward(places, start)`: `places` are whole numbers (batch, length), and `start`
    (batch, 1) says how far each row of the batch is moved down the table. A token at
    place p, from 1 on, gets row start + p of the table. A token at place 0 isn't a
    digit: it gets zeros, whatever `start` is. Returns (batch, length, d_model).

    >>> embedding = PlaceEmbedding(num_rows=12, d_model=4)
    >>> embedding(torch.tensor([[2, 1, 0, 1]]), torch.tensor([[5]])).shape
    torch.Size([1, 4, 4])

    Source: McLeish et al., "Transformers Can Do Arithmetic with the Right
    Embeddings", NeurIPS 2024, section 3.
    """

    def __init__(self, num_rows: int, d_model: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.vectors = nn.Embedding(num_rows, d_model)
        ### END SOLUTION

    def forward(self, places: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        is_digit = places > 0  # (batch, length)
        rows = (places + start) * is_digit  # (batch, length)
        told: torch.Tensor = self.vectors(rows) * is_digit.unsqueeze(-1)  # (batch, length, d_model)
        return told
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
