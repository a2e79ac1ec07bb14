"""Where a token stands: waves that are added to it, a rotation of queries and keys, and a test for order.

At position p, a wave of frequency w has turned by the angle p * w. Pair i, that is columns 2i and 2i + 1, has the
frequency base ** (-2i / d_model): the first pair turns by one radian per position, the last one hardly at all.
Sources: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.5; Su et al., "RoFormer: Enhanced
Transformer with Rotary Position Embedding", 2021, section 3.
"""

import copy
from itertools import combinations

import torch
from torch import nn


def sinusoidal_positional_encoding(length: int, d_model: int, base: float = 10000.0) -> torch.Tensor:
    """A row of sines and cosines for each position: (length, d_model), in float32.
    `d_model` is even.

    Positions count from 0. The row of position p has sin(p * w) in column 2i and
    cos(p * w) in column 2i + 1, where w = base ** (-2i / d_model) is the frequency of
    this pair of columns.

    >>> sinusoidal_positional_encoding(length=2, d_model=4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])

    Source: Vaswani et al. 2017, section 3.5.
    """
    ### BEGIN SOLUTION
    frequencies = base ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    angles = torch.arange(length).unsqueeze(1) * frequencies  # (length, 1) * (d_model / 2,)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (length, d_model / 2, 2)
    return pairs.flatten(start_dim=1)  # (length, d_model): sine, cosine, sine, cosine, ...
    ### END SOLUTION


def shift_matrix(offset: int, d_model: int, base: float = 10000.0) -> torch.Tensor:
    """The matrix that moves an encoding by `offset` positions, whatever the position:
    (d_model, d_model), float32.

    With encoding = sinusoidal_positional_encoding(length, d_model, base), the following
    holds for every position p: encoding[p + offset] equals
    shift_matrix(offset, d_model, base) @ encoding[p]. The offset may be negative.

    >>> encoding = sinusoidal_positional_encoding(length=10, d_model=8)
    >>> torch.allclose(shift_matrix(3, d_model=8) @ encoding[4], encoding[7], atol=1e-6)
    True

    Source: Vaswani et al. 2017, section 3.5, which says that such a matrix exists.
    """
    ### BEGIN SOLUTION
    angles = offset * base ** (-torch.arange(0, d_model, 2) / d_model)  # (d_model / 2,)
    even = torch.arange(0, d_model, 2)  # the columns of the sines
    odd = even + 1  # and of the cosines
    matrix = torch.zeros(d_model, d_model)
    matrix[even, even] = angles.cos()  # sin(a + b) = sin(a) cos(b) + cos(a) sin(b)
    matrix[even, odd] = angles.sin()
    matrix[odd, odd] = angles.cos()  # cos(a + b) = cos(a) cos(b) - sin(a) sin(b)
    matrix[odd, even] = -angles.sin()
    return matrix
    ### END SOLUTION


class SinusoidalPositionalEncoding(nn.Module):
    """Adds the waves to the tokens. There is nothing to learn in it.

    The table of sinusoids, max_length rows of d_model numbers, is made once and kept as
    a buffer: it moves with the model to another device or dtype, and no optimiser
    touches it.
    `forward(x)`: x is (batch, length, d_model), with length <= max_length. The result
    has the same shape: x plus the first `length` rows of the table.

    >>> positions = SinusoidalPositionalEncoding(d_model=8, max_length=10)
    >>> x = torch.zeros(2, 5, 8)
    >>> torch.equal(positions(x)[1], sinusoidal_positional_encoding(5, 8))
    True
    >>> list(positions.parameters())
    []
    """

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.encoding: torch.Tensor
        self.register_buffer("encoding", sinusoidal_positional_encoding(max_length, d_model))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return x + self.encoding[: x.shape[1]]  # (batch, length, d_model) + (length, d_model)
        ### END SOLUTION


def rotary_embedding(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Rotates each pair of neighbouring numbers in a vector by an angle that depends on
    the vector's position.

    `x` is (..., length, d) with an even d, for example (batch, heads, length, d_head).
    `positions` is (length,), whole numbers of any size, possibly negative: the vectors
    x[..., j, :] are at position positions[j]. The result has the shape and dtype of x;
    the angles may be computed in float32, whatever that dtype is.
    The numbers in columns 2i and 2i + 1 are a point in the plane. It is rotated by the
    angle positions[j] * w, with w = base ** (-2i / d):

    - new even number: x_even * cos - x_odd * sin
    - new odd number: x_even * sin + x_odd * cos

    >>> x = torch.tensor([[1.0, 0.0], [1.0, 0.0]])  # two vectors of two numbers
    >>> rotary_embedding(x, torch.tensor([0, 1]))  # the second is rotated by one radian
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])

    Source: Su et al. 2021, section 3.2 and equation 34.
    """
    ### BEGIN SOLUTION
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)  # (d / 2,)
    angles = positions.unsqueeze(-1) * frequencies  # (length, d / 2)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., length, d / 2) each
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (..., length, d / 2, 2)
    return turned.flatten(start_dim=-2)  # (..., length, d): even, odd, even, odd, ...
    ### END SOLUTION


def relative_attention_scores(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """The dot product of each query with each key, after `rotary_embedding` has rotated
    both.

    `query` and `key` are (..., length, d), both at `positions` (length,). The result is
    (..., length, length), with a row per query and a column per key: plain dot
    products, no scaling, no softmax. Add the same number to all positions, and the
    result stays the same: only distances count.

    >>> same = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> relative_attention_scores(same, same, torch.tensor([5, 7]))  # off the diagonal: cos 2
    tensor([[ 1.0000, -0.4161],
            [-0.4161,  1.0000]])

    Source: Su et al. 2021, section 3.2.
    """
    ### BEGIN SOLUTION
    turned_query = rotary_embedding(query, positions)  # (..., length, d)
    turned_key = rotary_embedding(key, positions)  # (..., length, d)
    return turned_query @ turned_key.transpose(-2, -1)  # (..., length, length)
    ### END SOLUTION


def sees_order(model: nn.Module, tokens: torch.Tensor) -> bool:
    """Does the order of the tokens in a row matter to the model?

    `model` is an `nn.Module` that maps tokens (batch, length) to logits
    (batch, classes). The answer is True if some reordering of a row changes its logits
    by more than rounding would. Dropout is off while you look. The model is left as it
    was, including its mode, and so are the tokens.

    >>> class Bag(nn.Module):
    ...     def forward(self, tokens):
    ...         return nn.functional.one_hot(tokens, 9).sum(dim=1).float()  # how often each token occurs
    >>> sees_order(Bag(), torch.tensor([[3, 1, 7]]))
    False
    """
    ### BEGIN SOLUTION
    examined = copy.deepcopy(model).eval()  # its answers can be compared: no dropout
    with torch.no_grad():
        logits = examined(tokens)  # (batch, classes)
        for i, j in combinations(range(tokens.shape[1]), 2):
            swapped = tokens.clone()
            swapped[:, [i, j]] = tokens[:, [j, i]]
            if not torch.allclose(examined(swapped), logits, rtol=1e-4, atol=1e-5):
                return True
    return False
    ### END SOLUTION
