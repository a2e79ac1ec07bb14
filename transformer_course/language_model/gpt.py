"""A decoder on its own, as GPT has it: blocks that hide the future, and a table that serves twice.

Sources: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.3 (pre-norm, a last
norm); Press and Wolf, "Using the Output Embedding to Improve Language Models", EACL 2017 (one table for both).
"""

import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.causal import causal_mask


class DecoderOnlyBlock(nn.Module):
    """A block in pre-norm order in which no token sees a later one.

    x = x + attention(norm1(x)), then x = x + feed_forward(norm2(x)). The parts are
    `self.attention` (a MultiHeadAttention), `self.feed_forward` (a FeedForward),
    `self.norm1` and `self.norm2` (LayerNorms), all from lesson 3. The block makes the
    causal mask itself.
    `forward(x)`: (batch, length, d_model) -> (batch, length, d_model).

    >>> block = DecoderOnlyBlock(d_model=8, num_heads=2, d_ff=32)
    >>> x = torch.randn(3, 5, 8)
    >>> torch.allclose(block(x)[:, :2], block(x[:, :2]), atol=1e-6)  # what comes later doesn't matter
    True

    Source: Radford et al. 2019, section 2.3.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        mask = causal_mask(x.shape[1]).to(x.device)  # (length, length)
        normalised = self.norm1(x)
        x = x + self.attention(normalised, normalised, normalised, mask)[0]
        x = x + self.feed_forward(self.norm2(x))
        return x
        ### END SOLUTION


class DecoderOnlyTransformer(nn.Module):
    """A GPT: it reads a text and predicts, at each position, which token comes next.

    - `self.embedding`, an `nn.Embedding` with vocab_size rows of d_model numbers
    - `self.positions`, a LearnedPositionalEmbedding with max_length rows
    - `self.blocks`, an `nn.ModuleList` of `num_layers` DecoderOnlyBlocks
    - `self.final_norm`, a LayerNorm after the last block

    The logits are the dot products of the last states with the rows of the embedding's
    own table. So no other layer is needed for them, and there is no bias. Both tables
    start as normal random numbers with a standard deviation of 0.02: with larger ones,
    a new model would be sure of itself, and wrong. `self.max_length` keeps the number
    of positions.

    `forward(tokens)`: (batch, length) -> logits (batch, length, vocab_size).

    >>> model = DecoderOnlyTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> model(torch.randint(13, (5, 9))).shape
    torch.Size([5, 9, 13])

    Raises:
        ValueError: in `forward`, when the input is longer than max_length.

    Source: Radford et al. 2019, section 2.3.
    """

    def __init__(
        self, vocab_size: int, max_length: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.max_length = max_length
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(max_length, d_model)
        self.blocks = nn.ModuleList(DecoderOnlyBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.final_norm = LayerNorm(d_model)
        for table in (self.embedding, self.positions.embedding):
            nn.init.normal_(table.weight, std=0.02)
        ### END SOLUTION

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        if tokens.shape[1] > self.max_length:
            raise ValueError(f"{tokens.shape[1]} tokens are too many: this model has {self.max_length} positions")
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.final_norm(x) @ self.embedding.weight.T  # (batch, length, vocab_size)
        return logits
        ### END SOLUTION
