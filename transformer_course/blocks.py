"""What surrounds attention in a Transformer: the feed-forward network, positions, norms, and the encoder block.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 3.
"""

import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention


class FeedForward(nn.Module):
    """Two Linear layers with ReLU between them, applied to each token by itself.

    `self.linear_in` goes from d_model to d_ff, `self.linear_out` back. Both have a bias.
    `forward(x)`: (batch, length, d_model) -> (batch, length, d_model).

    >>> FeedForward(d_model=8, d_ff=32)(torch.randn(2, 5, 8)).shape
    torch.Size([2, 5, 8])

    Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.linear_in = nn.Linear(d_model, d_ff)
        self.linear_out = nn.Linear(d_ff, d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        hidden = torch.relu(self.linear_in(x))  # (batch, length, d_ff)
        output: torch.Tensor = self.linear_out(hidden)  # (batch, length, d_model)
        return output
        ### END SOLUTION


class LearnedPositionalEmbedding(nn.Module):
    """A table with one learned vector for each position, which is added to the token at
    that position.

    `self.embedding` is an `nn.Embedding` with max_length rows of d_model numbers.
    `forward(x)`: x is (batch, length, d_model), and so is the result: x plus the first
    `length` rows of the table. `length` is at most max_length.

    >>> positions = LearnedPositionalEmbedding(max_length=10, d_model=8)
    >>> x = torch.zeros(2, 5, 8)
    >>> torch.equal(positions(x)[1], positions.embedding.weight[:5])
    True

    Source: Gehring et al., "Convolutional Sequence to Sequence Learning", ICML 2017,
    section 3.1.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(max_length, d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        places = torch.arange(x.shape[1], device=x.device)  # (length,): 0, 1, 2, ...
        moved: torch.Tensor = x + self.embedding(places)  # (batch, length, d_model) + (length, d_model)
        return moved
        ### END SOLUTION


class LayerNorm(nn.Module):
    """Normalises each token's vector to mean 0 and variance 1, then scales and shifts
    each column by learned numbers.

    `self.weight` (ones at first) and `self.bias` (zeros at first) are parameters of
    shape (d_model,).
    `forward(x)`: x is (..., d_model), and so is the result: (x - mean) /
    sqrt(variance + eps) * weight + bias. Each vector has its own mean and variance. The
    variance divides by d_model, not by d_model - 1.

    >>> LayerNorm(d_model=2)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]], grad_fn=<AddBackward0>)

    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
        variance = x.var(dim=-1, keepdim=True, correction=0)  # (..., 1)
        normalised = (x - mean) / torch.sqrt(variance + self.eps)  # (..., d_model)
        return normalised * self.weight + self.bias
        ### END SOLUTION


class EncoderBlock(nn.Module):
    """One block of the encoder, in pre-norm order: attention, then a feed-forward
    network, each with a residual.

    x = x + attention(norm1(x)), then x = x + feed_forward(norm2(x)). The parts are
    `self.attention` (a MultiHeadAttention), `self.feed_forward`, `self.norm1` and
    `self.norm2`.
    `forward(x, mask=None)`: x is (batch, length, d_model), the mask broadcasts to
    (batch, heads, length, length). Returns only the new x, (batch, length, d_model),
    not the weights.

    >>> EncoderBlock(d_model=8, num_heads=2, d_ff=32)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 5, 8])

    Source: Xiong et al., "On Layer Normalization in the Transformer Architecture", ICML
    2020, section 3 (pre-norm).
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        ### BEGIN SOLUTION
        normalised = self.norm1(x)
        x = x + self.attention(normalised, normalised, normalised, mask)[0]  # without the weights
        x = x + self.feed_forward(self.norm2(x))
        return x
        ### END SOLUTION
