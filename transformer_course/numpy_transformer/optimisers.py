"""SGD and Adam: what turns gradients into steps."""

from collections.abc import Sequence

import numpy as np


class SGD:
    """Gradient descent: each `step(gradients)` subtracts `learning_rate * gradient` from each parameter.

    `parameters` is a list of arrays, and `gradients` a list of arrays of the same
    shapes, in the same order. The arrays themselves change, in place, so that the layers
    that hold them see it. They keep their dtype; the gradients don't change.

    >>> weights = np.array([1.0, 2.0])
    >>> SGD([weights], learning_rate=0.1).step([np.array([10.0, 0.0])])
    >>> weights
    array([0., 2.])
    """

    def __init__(self, parameters: Sequence[np.ndarray], learning_rate: float) -> None:
        ### BEGIN SOLUTION
        self.parameters, self.learning_rate = list(parameters), learning_rate
        ### END SOLUTION

    def step(self, gradients: Sequence[np.ndarray]) -> None:
        """One step downhill."""
        ### BEGIN SOLUTION
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter -= self.learning_rate * gradient
        ### END SOLUTION


class Adam:
    """Adam (Kingma and Ba, 2015, algorithm 1): each number gets a step size of its own.

    For each parameter it keeps two running means, m of the gradients and v of their
    squares. Both start at 0, which pulls them towards 0 early on; dividing by
    1 - beta ** t, in step number t, makes up for that:

        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient ** 2
        parameter -= learning_rate * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Parameters and gradients as in `SGD`; t counts from 1, and `betas` is (beta1, beta2).
    (At the end of its section 2 the paper adds eps to sqrt(v) as it is, and corrects
    afterwards. That is fine, too.) The arrays change in place, and keep their dtype.

    >>> weights = np.array([1.0, 2.0])
    >>> Adam([weights], learning_rate=0.1).step([np.array([10.0, -0.001])])
    >>> weights.round(4)  # the first step is the learning rate, whatever the size of the gradient
    array([0.9, 2.1])
    """

    def __init__(
        self,
        parameters: Sequence[np.ndarray],
        learning_rate: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        ### BEGIN SOLUTION
        self.parameters, self.learning_rate, self.betas, self.eps = list(parameters), learning_rate, betas, eps
        self.means = [np.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [np.zeros_like(parameter) for parameter in self.parameters]
        self.steps = 0
        ### END SOLUTION

    def step(self, gradients: Sequence[np.ndarray]) -> None:
        """One step, scaled for each number."""
        ### BEGIN SOLUTION
        self.steps += 1
        beta1, beta2 = self.betas
        for parameter, m, v, gradient in zip(self.parameters, self.means, self.squares, gradients, strict=True):
            m += (1 - beta1) * (gradient - m)
            v += (1 - beta2) * (gradient**2 - v)
            corrected_m, corrected_v = m / (1 - beta1**self.steps), v / (1 - beta2**self.steps)
            parameter -= self.learning_rate * corrected_m / (np.sqrt(corrected_v) + self.eps)
        ### END SOLUTION
