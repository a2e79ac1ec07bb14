"""The paper's two kinds of layer, with dropout and the norm where the paper puts them.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, sections 3.1, 3.3 and 5.4.
"""

import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import LayerNorm
from transformer_course.seq2seq import CrossAttention


class PositionwiseFeedForward(nn.Module):
    """Two Linear layers with ReLU between them, applied to each token by itself, and
    dropout at the end.

    `self.linear_in` goes from d_model to d_ff, `self.linear_out` back. Both have a
    bias. Dropout acts on the output, since the paper puts it on the output of each
    sub-layer. (PyTorch's own layer drops some of the d_ff hidden numbers as well.)
    `forward(x)`: (batch, length, d_model) -> (batch, length, d_model).

    >>> PositionwiseFeedForward(d_model=8, d_ff=32, dropout=0.1)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 5, 8])

    Source: Vaswani et al. 2017, section 3.3, equation 2, and section 5.4.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.linear_in = nn.Linear(d_model, d_ff)
        self.linear_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        hidden = torch.relu(self.linear_in(x))  # (batch, length, d_ff)
        output: torch.Tensor = self.dropout(self.linear_out(hidden))  # (batch, length, d_model)
        return output
        ### END SOLUTION


class EncoderLayer(nn.Module):
    """One layer of the encoder: self-attention, then the feed-forward network, each
    with a residual connection and a norm.

    The paper's order, post-norm, normalises each sum:
    x = norm1(x + dropout(attention(x))), then x = norm2(x + feed_forward(x)).
    With `norm_first=True` it is the pre-norm order of lesson 03, which normalises what
    goes into a sub-layer: x = x + dropout(attention(norm1(x))), and so on.

    The parts are `self.attention` (a MultiHeadAttention), `self.feed_forward` (a
    PositionwiseFeedForward, which brings its own dropout), `self.norm1`, `self.norm2`
    (LayerNorms) and `self.dropout`.
    `forward(x, mask=None)`: x is (batch, length, d_model), the mask broadcasts to
    (batch, heads, length, length). Returns only the new x, (batch, length, d_model).

    >>> EncoderLayer(d_model=8, num_heads=2, d_ff=32, dropout=0.1)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 5, 8])

    Source: Vaswani et al. 2017, sections 3.1 and 5.4.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float, norm_first: bool = False) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        ### BEGIN SOLUTION
        if self.norm_first:
            normed = self.norm1(x)
            x = x + self.dropout(self.attention(normed, normed, normed, mask)[0])
            x = x + self.feed_forward(self.norm2(x))
            return x
        x = self.norm1(x + self.dropout(self.attention(x, x, x, mask)[0]))
        x = self.norm2(x + self.feed_forward(x))
        return x
        ### END SOLUTION


class DecoderLayer(nn.Module):
    """One layer of the decoder: self-attention, cross-attention to the encoder, then
    the feed-forward network.

    Each has a residual connection and a norm, in the order of `EncoderLayer`: post-norm
    as in the paper, or pre-norm with `norm_first=True`. The encoder states are used as
    they are. The parts are `self.self_attention` (a MultiHeadAttention) with
    `self.norm1`, `self.cross_attention` (a CrossAttention) with `self.norm2`,
    `self.feed_forward` (a PositionwiseFeedForward) with `self.norm3`, and
    `self.dropout` for the two kinds of attention.

    `forward(x, encoder_states, self_mask=None, encoder_mask=None)`: x is
    (batch, target_length, d_model), the encoder states are
    (batch, source_length, d_model). `self_mask` is for the self-attention,
    `encoder_mask` for the cross-attention. Returns only the new x.

    >>> layer = DecoderLayer(d_model=8, num_heads=2, d_ff=32, dropout=0.1)
    >>> layer(torch.randn(3, 4, 8), torch.randn(3, 6, 8)).shape
    torch.Size([3, 4, 8])

    Source: Vaswani et al. 2017, sections 3.1, 3.2.3 and 5.4.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float, norm_first: bool = False) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.norm_first = norm_first
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = CrossAttention(d_model, num_heads)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self,
        x: torch.Tensor,
        encoder_states: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        encoder_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        if self.norm_first:
            normed = self.norm1(x)
            x = x + self.dropout(self.self_attention(normed, normed, normed, self_mask)[0])
            x = x + self.dropout(self.cross_attention(self.norm2(x), encoder_states, encoder_mask)[0])
            x = x + self.feed_forward(self.norm3(x))
            return x
        x = self.norm1(x + self.dropout(self.self_attention(x, x, x, self_mask)[0]))
        x = self.norm2(x + self.dropout(self.cross_attention(x, encoder_states, encoder_mask)[0]))
        x = self.norm3(x + self.feed_forward(x))
        return x
        ### END SOLUTION
