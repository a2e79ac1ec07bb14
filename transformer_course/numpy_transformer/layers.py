"""The small layers: each remembers in `forward` what `backward` will need, and sets the gradients of its weights."""

import numpy as np


class Linear:
    """Multiply by a matrix, add a bias: (..., d_in) -> (..., d_out).

    Attributes: `weight` (d_in, d_out), which starts out as random numbers around 0,
    about 1 / sqrt(d_in) in size and different in each layer, and `bias` (d_out,), which
    starts out as zeros; after `backward` also `weight_grad` and `bias_grad`, of the same
    shapes. They belong to the last `forward`, and earlier ones leave nothing behind.
    float32 stays float32.

    >>> layer = Linear(2, 1)
    >>> layer.weight, layer.bias = np.array([[3.0], [5.0]]), np.array([1.0])
    >>> layer.forward(np.array([[1.0, 2.0]]))  # 3 + 10 + 1
    array([[14.]])
    >>> layer.backward(np.array([[2.0]]))
    array([[ 6., 10.]])
    >>> layer.weight_grad.T, layer.bias_grad
    (array([[2., 4.]]), array([2.]))
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        ### BEGIN SOLUTION
        self.weight = np.random.standard_normal((d_in, d_out)) * d_in**-0.5
        self.bias = np.zeros(d_out)
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (..., d_in) -> (..., d_out)."""
        ### BEGIN SOLUTION
        self.x = x
        result: np.ndarray = x @ self.weight + self.bias
        return result
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient (..., d_out) of the output -> that of the input, (..., d_in)."""
        ### BEGIN SOLUTION
        rows, row_gradients = self.x.reshape(-1, self.x.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
        self.weight_grad = rows.T @ row_gradients  # (d_in, n) @ (n, d_out): the sum over all n rows
        self.bias_grad = row_gradients.sum(axis=0)  # (d_out,)
        result: np.ndarray = gradient @ self.weight.T  # (..., d_out) @ (d_out, d_in)
        return result
        ### END SOLUTION


class ReLU:
    """Negative numbers become 0; any shape.

    `backward(gradient)` returns the gradient where the input was positive, and 0 where
    it was negative. The input is left as it was, and float32 stays float32.

    >>> layer = ReLU()
    >>> layer.forward(np.array([-2.0, 3.0]))
    array([0., 3.])
    >>> layer.backward(np.array([10.0, 10.0]))
    array([ 0., 10.])
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        """The same shape, without what is negative."""
        ### BEGIN SOLUTION
        self.positive = x > 0
        return np.where(self.positive, x, np.zeros_like(x))
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient, where something came through."""
        ### BEGIN SOLUTION
        return np.where(self.positive, gradient, np.zeros_like(gradient))
        ### END SOLUTION


class Embedding:
    """A table with a row for each id: ids (...) -> (..., d_model). The rows are not scaled.

    Attributes: `weight` (vocab_size, d_model), which starts out as random numbers
    around 0, about 0.1 in size and different in each table, and after `backward` also
    `weight_grad`, which has the dtype of `weight`. An id that occurs several times
    gathers the gradients of all its occurrences. Ids have no gradient: `backward`
    returns None.

    >>> table = Embedding(3, 1)
    >>> table.weight = np.array([[0.0], [10.0], [20.0]])
    >>> table.forward(np.array([2, 1, 2])).T
    array([[20., 10., 20.]])
    >>> table.backward(np.array([[1.0], [2.0], [3.0]]))
    >>> table.weight_grad.T  # id 2 came twice: 1 + 3
    array([[0., 2., 4.]])
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        ### BEGIN SOLUTION
        self.weight = np.random.standard_normal((vocab_size, d_model)) * 0.1
        ### END SOLUTION

    def forward(self, tokens: np.ndarray) -> np.ndarray:
        """Ids (...) -> their rows, (..., d_model)."""
        ### BEGIN SOLUTION
        self.tokens = tokens
        rows: np.ndarray = self.weight[tokens]
        return rows
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> None:
        """Gathers the gradient (..., d_model), id by id."""
        ### BEGIN SOLUTION
        self.weight_grad = np.zeros_like(self.weight)
        np.add.at(self.weight_grad, self.tokens, gradient)  # unlike +=, adds once for each occurrence
        ### END SOLUTION


class LayerNorm:
    """Bring each vector, the last axis, to mean 0 and variance 1; then stretch and shift it.

        normalised = (x - mean) / sqrt(variance + eps)
        output     = normalised * weight + bias

    The variance divides by d_model. Attributes: `weight` (d_model,), ones at first, and
    `bias` (d_model,), zeros at first; after `backward` also `weight_grad` and
    `bias_grad`. With g = gradient * weight, the gradient with respect to x is

        (g - mean of g - normalised * mean of (g * normalised)) / sqrt(variance + eps)

    where both means are taken over the last axis. float32 stays float32.

    >>> norm = LayerNorm(2, eps=0.0)
    >>> norm.forward(np.array([[1.0, 5.0]]))  # the mean is 3, the root of the variance 2
    array([[-1.,  1.]])
    >>> norm.backward(np.array([[1.0, 0.0]])), norm.weight_grad  # with two numbers, x makes no difference
    (array([[0., 0.]]), array([-1.,  0.]))
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        ### BEGIN SOLUTION
        self.weight, self.bias, self.eps = np.ones(d_model), np.zeros(d_model), eps
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (..., d_model) -> the same shape."""
        ### BEGIN SOLUTION
        centred = x - x.mean(axis=-1, keepdims=True)
        self.root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self.eps)  # (..., 1)
        self.normalised = centred / self.root
        result: np.ndarray = self.normalised * self.weight + self.bias
        return result
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """Three paths lead back to x: directly, through the mean, and through the variance."""
        ### BEGIN SOLUTION
        rows = tuple(range(gradient.ndim - 1))  # every axis but the last
        self.weight_grad = (gradient * self.normalised).sum(axis=rows)
        self.bias_grad = gradient.sum(axis=rows)
        g = gradient * self.weight
        by_mean = g.mean(axis=-1, keepdims=True)
        by_variance = self.normalised * (g * self.normalised).mean(axis=-1, keepdims=True)
        result: np.ndarray = (g - by_mean - by_variance) / self.root
        return result
        ### END SOLUTION


class Dropout:
    """In training, set each number to 0 with probability `p`, and divide the others by 1 - p.

    `generator` is a NumPy random generator: it decides, afresh in each `forward`, for each
    number by itself. `training` is an attribute, True at first; when it is False,
    `forward` and `backward` change nothing. `backward` drops what the last `forward`
    dropped, and divides what it divided. float32 stays float32.

    >>> layer = Dropout(0.5, np.random.default_rng(0))
    >>> output = layer.forward(np.ones(4))
    >>> set(output.tolist()) <= {0.0, 2.0}
    True
    >>> np.array_equal(layer.backward(np.ones(4)), output)
    True

    Raises:
        ValueError: when p isn't in [0, 1).
    """

    def __init__(self, p: float, generator: np.random.Generator) -> None:
        ### BEGIN SOLUTION
        if not 0 <= p < 1:
            raise ValueError(f"p is a probability from 0 up to, but not including, 1; it is {p}")
        self.p, self.generator, self.training = p, generator, True
        ### END SOLUTION

    def forward(self, x: np.ndarray) -> np.ndarray:
        """The same shape and dtype."""
        ### BEGIN SOLUTION
        kept = self.generator.random(x.shape) >= self.p if self.training else np.ones(x.shape, dtype=bool)
        self.factor = kept / (1 - self.p if self.training else 1)
        return (x * self.factor).astype(x.dtype)
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient, dropped and divided as the numbers were."""
        ### BEGIN SOLUTION
        return (gradient * self.factor).astype(gradient.dtype)
        ### END SOLUTION


class FeedForward:
    """Two linear layers with a ReLU between them: (..., d_model) -> (..., d_ff) -> (..., d_model).

    Attributes: `linear_in` (d_model, d_ff) and `linear_out` (d_ff, d_model), both
    `Linear`. `backward(gradient)` sets the gradients of both, and returns the gradient
    with respect to x.

    >>> layer = FeedForward(2, 8)
    >>> layer.forward(np.ones((1, 3, 2))).shape, layer.backward(np.ones((1, 3, 2))).shape
    ((1, 3, 2), (1, 3, 2))
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        self.linear_in, self.relu, self.linear_out = Linear(d_model, d_ff), ReLU(), Linear(d_ff, d_model)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (..., d_model) -> the same shape."""
        return self.linear_out.forward(self.relu.forward(self.linear_in.forward(x)))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The same three layers, last one first."""
        return self.linear_in.backward(self.relu.backward(self.linear_out.backward(gradient)))
