"""Models, right ones and wrong ones: `MLP` as people write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def linears(sizes: list[int]) -> list[nn.Linear]:
    """The Linears between the sizes."""
    return [nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes)]


class Network(nn.Module):
    """The right model; mistakes change one thing about it."""

    layers: Any

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        self.layers = self.make(sizes)

    def make(self, sizes: list[int]) -> Any:
        return nn.ModuleList(linears(sizes))

    def forward(self, inputs: torch.Tensor) -> Any:
        x = inputs
        for i, layer in enumerate(self.layers):
            x = self.between(layer(x), i, len(self.layers) - 1)
        return x

    def between(self, x: torch.Tensor, i: int, last: int) -> torch.Tensor:
        return x if i == last else torch.relu(x)


def making(make: Callable[[list[int]], Any]) -> type[Network]:
    """A model whose layers are made otherwise."""
    return type("MLP", (Network,), {"make": lambda self, sizes: make(sizes)})


def between(between: Callable[[torch.Tensor, int, int], torch.Tensor]) -> type[Network]:
    """A model with something else after layer i."""
    return type("MLP", (Network,), {"between": lambda self, x, i, last: between(x, i, last)})


def forwards(forward: Callable[[Any, torch.Tensor], Any]) -> type[Network]:
    """A model with another forward."""
    return type("MLP", (Network,), {"forward": forward})


def with_activations(sizes: list[int]) -> nn.Sequential:
    """Linears and ReLUs in turn."""
    parts: list[nn.Module] = []
    for linear in linears(sizes):
        parts += [linear, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def one_a_shape(sizes: list[int]) -> nn.ModuleList:
    """Layers of one shape are one layer."""
    made: dict[tuple[int, int], nn.Linear] = {}
    return nn.ModuleList(made.setdefault(pair, nn.Linear(*pair)) for pair in pairwise(sizes))


def initialised(sizes: list[int]) -> nn.ModuleList:
    """Linears with weights of its own choice."""
    layers = linears(sizes)
    for linear in layers:
        nn.init.kaiming_uniform_(linear.weight, nonlinearity="relu")
        nn.init.zeros_(linear.bias)
    return nn.ModuleList(layers)


class LastLayerApart(Network):
    """Keeps the last Linear under another name."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__(sizes[:-1])
        self.output = nn.Linear(sizes[-2], sizes[-1])

    def forward(self, inputs: torch.Tensor) -> Any:
        x = inputs
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.output(x)


class OtherName(nn.Module):
    """Keeps its Linears under another name."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        self.linears = nn.ModuleList(linears(sizes))

    def forward(self, inputs: torch.Tensor) -> Any:
        x = inputs
        for layer in self.linears[:-1]:
            x = torch.relu(layer(x))
        return self.linears[-1](x)


class SizesUsedUp(Network):
    """Takes the sizes out of the list that it was given."""

    def make(self, sizes: list[int]) -> Any:
        layers = nn.ModuleList()
        while len(sizes) > 1:
            layers.append(nn.Linear(sizes.pop(0), sizes[0]))
        return layers


class AddedOneByOne(Network):
    """Registers one by one under other names; `layers` is a property."""

    def __init__(self, sizes: list[int]) -> None:
        nn.Module.__init__(self)
        self.count = len(sizes) - 1
        for i, linear in enumerate(linears(sizes)):
            self.add_module(f"linear{i}", linear)

    def __getattr__(self, name: str) -> Any:
        if name == "layers":
            return [getattr(self, f"linear{i}") for i in range(self.count)]
        return super().__getattr__(name)


class PropertyOverSequential(nn.Module):
    """A Sequential does the work; `layers` looks into it."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        self.network = with_activations(sizes)

    @property
    def layers(self) -> list[nn.Module]:
        return [part for part in self.network if isinstance(part, nn.Linear)]

    def forward(self, inputs: torch.Tensor) -> Any:
        return self.network(inputs)


class Functional(Network):
    """Uses the weights of its layers, not the layers."""

    def forward(self, inputs: torch.Tensor) -> Any:
        pairs: Iterator[Any] = iter([(layer.weight, layer.bias) for layer in self.layers])
        x = F.linear(inputs, *next(pairs))
        for weight, bias in pairs:
            x = x.clamp(min=0) @ weight.T + bias
        return x


class Recursive(Network):
    """Calls itself for the next layer."""

    def forward(self, inputs: torch.Tensor, depth: int = 0) -> Any:
        x = self.layers[depth](inputs)
        return x if depth + 1 == len(self.layers) else self.forward(F.relu(x), depth + 1)


class ActivationBeside(Network):
    """One ReLU module for all, which works in place."""

    def __init__(self, sizes: list[int]) -> None:
        super().__init__(sizes)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, inputs: torch.Tensor) -> Any:
        x = self.layers[0](inputs)
        for layer in list(self.layers)[1:]:
            x = layer(self.activation(x))
        return x


def detached(self: Any, inputs: torch.Tensor) -> Any:
    """A forward pass in which only the last layer can learn."""
    x = inputs
    for layer in self.layers[:-1]:
        x = torch.relu(layer(x)).detach()
    return self.layers[-1](x)
