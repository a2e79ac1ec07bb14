"""An encoder block and a decoder block: pre-norm, with a residual connection around every sub-layer."""

import numpy as np

from transformer_course.numpy_transformer.attention import MultiHeadAttention
from transformer_course.numpy_transformer.layers import FeedForward, LayerNorm


class TransformerBlock:
    """Self-attention, then a feed-forward network, each with a norm before it and a residual around it.

    Attributes: `norm1`, `attention`, `norm2`, `feed_forward`.
    `forward(x, mask=None)` computes

        n = norm1(x)
        x = x + attention(n, n, n, mask)
        x = x + feed_forward(norm2(x))

    for x (batch, length, d_model), and returns the new x. `backward(gradient)` sets the
    gradients of all parts, and returns the gradient with respect to the block's x. `n`
    went into the attention three times: its three gradients add up. float32 stays
    float32.

    >>> block = TransformerBlock(d_model=4, num_heads=2, d_ff=8)
    >>> x = np.ones((1, 3, 4))
    >>> block.forward(x).shape, block.backward(x).shape
    ((1, 3, 4), (1, 3, 4))
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        ### BEGIN SOLUTION
        self.norm1, self.attention = LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.feed_forward = LayerNorm(d_model), FeedForward(d_model, d_ff)
        ### END SOLUTION

    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        """x (batch, length, d_model) -> the same shape."""
        ### BEGIN SOLUTION
        n = self.norm1.forward(x)
        x = x + self.attention.forward(n, n, n, mask)[0]
        x = x + self.feed_forward.forward(self.norm2.forward(x))
        return x
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """Each residual splits the gradient: once past the sub-layer, once through it."""
        ### BEGIN SOLUTION
        gradient = gradient + self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.attention.backward(gradient)
        gradient = gradient + self.norm1.backward(by_query + by_key + by_value)
        return gradient
        ### END SOLUTION


class DecoderBlock:
    """Self-attention, cross-attention, feed-forward: pre-norm, each with a residual around it.

    Attributes: `norm1`, `self_attention`, `norm2`, `cross_attention`, `norm3`,
    `feed_forward`. The encoder states are not normalised in the block.
    `forward(x, encoder_states, self_mask=None, encoder_mask=None)` returns the new x;
    x is (batch, target_length, d_model), the states (batch, source_length, d_model).

    `backward(gradient)` sets the gradients of all parts, and returns two gradients:
    with respect to x, and with respect to the encoder states, which served both as keys
    and as values. float32 stays float32.

    >>> block = DecoderBlock(d_model=4, num_heads=2, d_ff=8)
    >>> block.forward(np.ones((1, 3, 4)), np.ones((1, 5, 4))).shape
    (1, 3, 4)
    >>> [gradient.shape for gradient in block.backward(np.ones((1, 3, 4)))]
    [(1, 3, 4), (1, 5, 4)]
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        ### BEGIN SOLUTION
        self.norm1, self.self_attention = LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.cross_attention = LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm3, self.feed_forward = LayerNorm(d_model), FeedForward(d_model, d_ff)
        ### END SOLUTION

    def forward(
        self,
        x: np.ndarray,
        encoder_states: np.ndarray,
        self_mask: np.ndarray | None = None,
        encoder_mask: np.ndarray | None = None,
    ) -> np.ndarray:
        """x (batch, target_length, d_model) -> the same shape."""
        ### BEGIN SOLUTION
        n = self.norm1.forward(x)
        x = x + self.self_attention.forward(n, n, n, self_mask)[0]
        n = self.norm2.forward(x)
        x = x + self.cross_attention.forward(n, encoder_states, encoder_states, encoder_mask)[0]
        x = x + self.feed_forward.forward(self.norm3.forward(x))
        return x
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Last sub-layer first; returns the gradients for x and for the encoder states."""
        ### BEGIN SOLUTION
        gradient = gradient + self.norm3.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.cross_attention.backward(gradient)
        gradient, states_gradient = gradient + self.norm2.backward(by_query), by_key + by_value
        by_query, by_key, by_value = self.self_attention.backward(gradient)
        return gradient + self.norm1.backward(by_query + by_key + by_value), states_gradient
        ### END SOLUTION
