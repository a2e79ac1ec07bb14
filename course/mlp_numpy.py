"""A multi-layer perceptron in plain NumPy: a prediction and its loss, and nothing hidden."""

import numpy as np


def mlp_predict_numpy(params: list[tuple[np.ndarray, np.ndarray]], inputs: np.ndarray) -> np.ndarray:
    """Run `inputs` through every layer: multiply by W, add b, and apply ReLU except after the last layer.

    `params` is [(W, b), ...]; W is (d_in, d_out), b is (d_out,).
    `inputs` is (n, d_in of the first layer); the result is (n, d_out of the last layer).

    Two hidden units make a tent, 1 high at x = 1:

    >>> tent = [(np.array([[1.0, 1.0]]), np.array([0.0, -1.0])), (np.array([[1.0], [-2.0]]), np.array([0.0]))]
    >>> mlp_predict_numpy(tent, np.array([[0.0], [1.0], [2.0]]))  # (3, 1)
    array([[0.],
           [1.],
           [0.]])

    Shapes that do not fit are a ValueError from NumPy's own `@`.
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
    """Mean squared error of the network's predictions: the mean over all entries, without a factor 1/2.

    `batch` is (inputs, targets); targets are (n, d_out), the shape of the predictions.

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
