"""The same multi-layer perceptron in PyTorch: first as functions of its parameters, then as a module."""

from itertools import pairwise

import torch
from torch import nn


def mlp_predict(params: list[tuple[torch.Tensor, torch.Tensor]], inputs: torch.Tensor) -> torch.Tensor:
    """The network of `mlp_predict_numpy`, in tensors: ReLU between the layers, none
    after the last.

    `params` is [(W, b), ...]; W is (d_in, d_out), b is (d_out,). `inputs` is
    (n, d_in of the first layer); the result is (n, d_out of the last layer).

    >>> tent = [(torch.tensor([[1.0, 1.0]]), torch.tensor([0.0, -1.0]))]
    >>> tent += [(torch.tensor([[1.0], [-2.0]]), torch.tensor([0.0]))]
    >>> mlp_predict(tent, torch.tensor([[0.0], [1.0], [2.0]]))  # (3, 1)
    tensor([[0.],
            [1.],
            [0.]])

    If the shapes don't fit, PyTorch's own `@` raises a RuntimeError.
    """
    ### BEGIN SOLUTION
    x = inputs  # (n, d_in)
    for W, b in params[:-1]:
        x = torch.relu(x @ W + b)  # (n, d_in) -> (n, d_out)
    W, b = params[-1]
    return x @ W + b  # no ReLU here: a prediction may be negative
    ### END SOLUTION


def mse_loss(params: list[tuple[torch.Tensor, torch.Tensor]], batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """The mean squared error of the network's predictions, over all entries, with no
    factor of 1/2.

    `batch` is (inputs, targets); targets are (n, d_out), the same shape as the
    predictions. The result is a tensor of shape (), and gradients can flow back through
    it.

    >>> double = [(torch.tensor([[2.0]]), torch.tensor([0.0]))]  # one layer: predicts 2x
    >>> batch = (torch.tensor([[1.0], [2.0]]), torch.tensor([[2.0], [7.0]]))
    >>> mse_loss(double, batch)  # errors 0 and -3: (0 + 9) / 2
    tensor(4.5000)
    """
    ### BEGIN SOLUTION
    inputs, targets = batch
    errors = mlp_predict(params, inputs) - targets  # (n, d_out)
    return (errors**2).mean()
    ### END SOLUTION


def loss_gradients(
    params: list[tuple[torch.Tensor, torch.Tensor]], batch: tuple[torch.Tensor, torch.Tensor]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The slope of `mse_loss` for every parameter, found by autograd: [(dW, db), ...].

    dW has the shape of W, and db the shape of b. `params` may or may not require
    gradients. Either way they stay as they were: same numbers, same flags, same
    `.grad`.

    >>> line = [(torch.tensor([[1.0]]), torch.tensor([0.0]))]  # predicts x
    >>> batch = (torch.tensor([[2.0]]), torch.tensor([[6.0]]))  # error 2 - 6 = -4
    >>> loss_gradients(line, batch)  # dW = 2 * error * x, db = 2 * error
    [(tensor([[-16.]]), tensor([-8.]))]
    """
    ### BEGIN SOLUTION
    # A detached tensor shares the numbers but not the flags, so the caller's parameters stay as they were.
    leaves = [(W.detach().requires_grad_(), b.detach().requires_grad_()) for W, b in params]
    flat = [tensor for pair in leaves for tensor in pair]  # W, b, W, b, ...
    gradients = torch.autograd.grad(mse_loss(leaves, batch), flat)
    return list(zip(gradients[0::2], gradients[1::2], strict=True))  # back into pairs
    ### END SOLUTION


def l2_penalty(params: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The sum of the squared weights. Biases don't count, and there is no factor of
    1/2.

    The result is a tensor of shape (), and gradients can flow back through it.

    >>> params = [(torch.tensor([[1.0, -2.0]]), torch.tensor([9.0, 9.0]))]
    >>> params += [(torch.tensor([[3.0], [0.0]]), torch.tensor([9.0]))]
    >>> l2_penalty(params)  # 1 + 4 + 9 + 0
    tensor(14.)

    Source: Krogh and Hertz, "A Simple Weight Decay Can Improve Generalization", NIPS
    1991.
    """
    ### BEGIN SOLUTION
    return torch.stack([(W**2).sum() for W, _ in params]).sum()
    ### END SOLUTION


class MLP(nn.Module):
    """A multi-layer perceptron: Linear layers with ReLU between them, none after the
    last.

    `sizes` is [d_in, d_hidden, ..., d_out]: k sizes make k - 1 layers.
    `self.layers` holds the `nn.Linear` layers in order, in a form in which PyTorch
    finds their parameters.
    `forward` takes inputs (n, d_in) and returns predictions (n, d_out).

    >>> model = MLP([1, 8, 8, 2])
    >>> [tuple(layer.weight.shape) for layer in model.layers]  # a Linear stores (d_out, d_in)
    [(8, 1), (8, 8), (2, 8)]
    >>> model(torch.zeros(5, 1)).shape
    torch.Size([5, 2])
    """

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.layers = nn.ModuleList(nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes))
        ### END SOLUTION

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        x = inputs  # (n, d_in)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))  # (n, d_in) -> (n, d_out)
        predictions: torch.Tensor = self.layers[-1](x)
        return predictions
        ### END SOLUTION
