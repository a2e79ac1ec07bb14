"""Multi-head attention, and its way back: split, attend, merge, and the same in reverse."""

import numpy as np

from transformer_course.numpy_transformer.functions import attention_backward, softmax
from transformer_course.numpy_transformer.layers import Linear


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(batch, length, d_model) -> (batch, heads, length, d_head): head h takes the h-th block of columns."""
    batch, length, d_model = x.shape
    return x.reshape(batch, length, num_heads, d_model // num_heads).swapaxes(1, 2)


def merge_heads(heads: np.ndarray) -> np.ndarray:
    """(batch, heads, length, d_head) -> (batch, length, d_model): the blocks side by side again."""
    batch, num_heads, length, d_head = heads.shape
    return heads.swapaxes(1, 2).reshape(batch, length, num_heads * d_head)


class MultiHeadAttention:
    """Several attentions side by side, each on its own block of columns.

    Attributes: `query`, `key`, `value` and `output`, each a `Linear(d_model, d_model)`.
    Head h takes the h-th block of d_model / num_heads columns.

    `forward(queries, keys, values, mask=None)`: queries are (batch, query_length,
    d_model), keys and values (batch, key_length, d_model). `mask` is boolean, True =
    may attend, and broadcasts to (batch, heads, query_length, key_length); a row with
    no allowed key gives finite numbers. Returns (output, weights), of shapes
    (batch, query_length, d_model) and (batch, heads, query_length, key_length).

    `backward(gradient)`, with the gradient of the output, sets the gradients of all
    four layers, and returns three gradients: for queries, keys and values. They are the
    slopes of `forward`: where a query has no allowed key, its scores have no effect, so no
    gradient passes through them. float32 stays float32.

    >>> layer = MultiHeadAttention(d_model=4, num_heads=2)
    >>> x = np.ones((1, 3, 4))
    >>> output, weights = layer.forward(x, x, x)
    >>> output.shape, weights.shape, [gradient.shape for gradient in layer.backward(output)]
    ((1, 3, 4), (1, 2, 3, 3), [(1, 3, 4), (1, 3, 4), (1, 3, 4)])

    Raises:
        ValueError: when num_heads doesn't divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        ### BEGIN SOLUTION
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads can't share {d_model} columns equally")
        self.num_heads = num_heads
        self.query, self.key = Linear(d_model, d_model), Linear(d_model, d_model)
        self.value, self.output = Linear(d_model, d_model), Linear(d_model, d_model)
        ### END SOLUTION

    def forward(
        self, queries: np.ndarray, keys: np.ndarray, values: np.ndarray, mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns (output, weights)."""
        ### BEGIN SOLUTION
        q = split_heads(self.query.forward(queries), self.num_heads)
        k = split_heads(self.key.forward(keys), self.num_heads)
        v = split_heads(self.value.forward(values), self.num_heads)
        scores = q @ k.mT * q.shape[-1] ** -0.5  # (batch, heads, query_length, key_length)
        # A hidden key gets the weight 0, even where a row has no other.
        weights = softmax(scores) if mask is None else softmax(np.where(mask, scores, -1e9)) * mask
        self.seen = q, k, v, weights
        return self.output.forward(merge_heads(weights @ v)), weights
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the gradients for queries, keys and values."""
        ### BEGIN SOLUTION
        heads = split_heads(self.output.backward(gradient), self.num_heads)
        q_gradient, k_gradient, v_gradient = attention_backward(*self.seen, heads)
        return (
            self.query.backward(merge_heads(q_gradient)),
            self.key.backward(merge_heads(k_gradient)),
            self.value.backward(merge_heads(v_gradient)),
        )
        ### END SOLUTION
