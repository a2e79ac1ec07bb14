"""A multi-layer perceptron in plain NumPy: predictions, a loss, and one gradient worked out by hand."""

import numpy as np


def mlp_predict_numpy(params: list[tuple[np.ndarray, np.ndarray]], inputs: np.ndarray) -> np.ndarray:
    """Run `inputs` through every layer: multiply by W, add b, and apply ReLU except
    after the last layer.

    `params` is [(W, b), ...]; W is (d_in, d_out), b is (d_out,). `inputs` is
    (n, d_in of the first layer); the result is (n, d_out of the last layer).

    Two hidden units make a tent that peaks at 1, where x = 1:

    >>> tent = [(np.array([[1.0, 1.0]]), np.array([0.0, -1.0])), (np.array([[1.0], [-2.0]]), np.array([0.0]))]
    >>> mlp_predict_numpy(tent, np.array([[0.0], [1.0], [2.0]]))  # (3, 1)
    array([[0.],
           [1.],
           [0.]])

    If the shapes don't fit, NumPy's own `@` raises a ValueError.
    """
    ### BEGIN SOLUTION
    x = inputs  # (n, d_in)
    for W, b in params[:-1]:
        x = np.maximum(x @ W + b, 0.0)  # (n, d_in) -> (n, d_out)
    W, b = params[-1]
    predictions: np.ndarray = x @ W + b  # no ReLU here: a prediction may be negative
    return predictions
    ### END SOLUTION


def mse_loss_numpy(params: list[tuple[np.ndarray, np.ndarray]], batch: tuple[np.ndarray, np.ndarray]) -> float:
    """The mean squared error of the network's predictions, over all entries, with no
    factor of 1/2.

    `batch` is (inputs, targets); targets are (n, d_out), the same shape as the
    predictions.

    >>> double = [(np.array([[2.0]]), np.array([0.0]))]  # one layer: predicts 2x
    >>> batch = (np.array([[1.0], [2.0]]), np.array([[2.0], [7.0]]))
    >>> mse_loss_numpy(double, batch)  # errors 0 and -3: (0 + 9) / 2
    4.5
    """
    ### BEGIN SOLUTION
    inputs, targets = batch
    errors = mlp_predict_numpy(params, inputs) - targets  # (n, d_out)
    return float(np.mean(errors**2))
    ### END SOLUTION


def linear_gradients(
    W: np.ndarray, b: np.ndarray, batch: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The slopes of the mean squared error of one linear layer, worked out by hand:
    (dW, db).

    The layer predicts `inputs @ W + b`, without ReLU. W is (d_in, d_out), b is
    (d_out,). `batch` is (inputs, targets), of shapes (n, d_in) and (n, d_out). The loss
    is the mean over all n * d_out entries. dW has the shape of W, and db the shape of
    b.

    >>> batch = (np.array([[1.0], [2.0]]), np.array([[2.0], [7.0]]))
    >>> linear_gradients(np.array([[2.0]]), np.array([0.0]), batch)  # errors 0 and -3
    (array([[-6.]]), array([-3.]))

    If the shapes don't fit, NumPy's own `@` raises a ValueError.
    """
    ### BEGIN SOLUTION
    inputs, targets = batch
    errors = inputs @ W + b - targets  # (n, d_out)
    dW = 2 * inputs.T @ errors / errors.size  # (d_in, n) @ (n, d_out) -> (d_in, d_out)
    db = 2 * errors.sum(axis=0) / errors.size  # (n, d_out) -> (d_out,)
    return dW, db
    ### END SOLUTION
