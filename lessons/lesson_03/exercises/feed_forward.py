"""`FeedForward`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.blocks import FeedForward
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.slips import slip


def _networks(generator: np.random.Generator) -> list[Case]:
    def network(batch: int, length: int, d_model: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "d_ff": d_ff,
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": drawing.feed_forward(generator, "", d_model, d_ff, kind),
        }

    b, n, d, d_ff = draw.dims(generator, 4, 4, 9)
    narrow, wide = sorted(draw.dims(generator, 2, 5, 9))
    side = int(generator.integers(5, 7))
    laid_out = network(b, n, d, d_ff)
    return [
        Case("with four different sizes", network(b, n, d, d_ff), USUAL),
        Case("with d_ff above d_model", network(n, b, narrow, 2 * wide + 1), USUAL),
        Case("with d_ff below d_model", network(b, n, wide, narrow), USUAL),
        Case("where all sizes are equal", network(side, side, side, side), USUAL),
        Case("on a batch of one", network(1, n, d, d_ff), tagged("one")),
        Case("with a single token", network(b, 1, d, d_ff), tagged("one")),
        Case("with float64", network(b, n, d, d_ff, torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


class _Network(nn.Module):
    """The right network; mistakes change one thing about it."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.linear_in, self.linear_out = self.make(d_model, d_ff)

    def make(self, d_model: int, d_ff: int) -> tuple[nn.Module, nn.Module]:
        return nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear_out(torch.relu(self.linear_in(x)))


def _forwards(forward: Callable[[Any, torch.Tensor], Any]) -> type[_Network]:
    return type("FeedForward", (_Network,), {"forward": forward})


def _making(make: Callable[[int, int], tuple[nn.Module, nn.Module]]) -> type[_Network]:
    return type("FeedForward", (_Network,), {"make": lambda self, d_model, d_ff: make(d_model, d_ff)})


def _bending(bend: Callable[[torch.Tensor], torch.Tensor]) -> type[_Network]:
    return _forwards(lambda self, x: self.linear_out(bend(self.linear_in(x))))


class _Sequence(nn.Sequential):
    """The parts stand in a row, and have names beside it."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    @property
    def linear_in(self) -> nn.Module:
        return self[0]

    @property
    def linear_out(self) -> nn.Module:
        return self[2]


class _NamesForgotten(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x: torch.Tensor) -> Any:
        return self.layers(x)


class _BackwardsMade(_Network):
    """Made from its end, with an option that is off."""

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        nn.Module.__init__(self)
        self.linear_out = nn.Linear(d_ff, d_model)
        self.linear_in = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear_out(self.dropout(self.activation(self.linear_in(x))))


def _token_by_token(self: Any, x: torch.Tensor) -> Any:
    rows = [self.linear_out(self.linear_in(token).clamp(min=0)) for token in x.unbind(dim=1)]
    return torch.stack(rows, dim=1)


FEED_FORWARD = Exercise(
    symbol="FeedForward",
    points=1,
    cases=_networks,
    references=(FeedForward,),
    aspects=(
        parts(2.0),
        shape(),
        values(),
        gradients(),
        special("a batch of one, a single token", "one"),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "no_relu",
            _bending(lambda x: x),
            "Without a ReLU, the two layers together are one linear map. What belongs between them?",
            central=True,
        ),
        Mistake(
            "relu_after_both",
            _forwards(lambda self, x: torch.relu(_Network.forward(self, x))),
            "Your result has no negative numbers left, since there is a ReLU after the second layer too. After which "
            "layer "
            "does it belong?",
        ),
        Mistake(
            "relu_after_the_second",
            _forwards(lambda self, x: torch.relu(self.linear_out(self.linear_in(x)))),
            "Your ReLU comes after both layers, with nothing between them. What do two linear maps in a row make?",
        ),
        Mistake(
            "relu_before_the_first",
            _forwards(lambda self, x: self.linear_out(self.linear_in(torch.relu(x)))),
            "x loses its negative numbers before the first layer. Between which two steps does ReLU stand?",
        ),
        Mistake(
            "gelu_instead_of_relu",
            _bending(F.gelu),
            "Your network uses GELU, as many newer models do. Which activation does this docstring name?",
        ),
        Mistake(
            "tanh_instead_of_relu",
            _bending(torch.tanh),
            "Your network uses tanh. What does ReLU do with a large positive number?",
        ),
        Mistake(
            "sigmoid_instead_of_relu",
            _bending(torch.sigmoid),
            "Your network uses a sigmoid. What does ReLU do with a positive number, however large?",
        ),
        Mistake(
            "leaky_relu",
            _bending(F.leaky_relu),
            "Yours is a leaky ReLU: negative numbers come through, only smaller. What does a plain ReLU make of them?",
        ),
        Mistake(
            "softmax_between",
            _bending(lambda x: x.softmax(-1)),
            "There is a softmax between your layers. That belongs in attention: which function does the docstring "
            "name?",
        ),
        Mistake(
            "width_ignored",
            _making(lambda d_model, d_ff: (nn.Linear(d_model, d_model), nn.Linear(d_model, d_model))),
            "Both layers are d_model wide. Which argument says how many hidden numbers there are?",
        ),
        Mistake(
            "four_times_as_wide",
            _making(lambda d_model, d_ff: (nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model))),
            "Your hidden layer is four times d_model wide, whatever d_ff says. Which argument should decide?",
        ),
        Mistake(
            "sizes_swapped",
            _making(lambda d_model, d_ff: (nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff))),
            "Each layer has its two sizes swapped. Which comes first when you make a Linear: what goes in, or what "
            "comes out?",
        ),
        Mistake(
            "residual_added",
            _forwards(lambda self, x: x + _Network.forward(self, x)),
            "Your result is the right one plus x. That step comes later, in the block. What does this network return?",
        ),
        slip(
            "no_bias",
            _making(lambda d_model, d_ff: (nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False))),
        ),
        Mistake(
            "second_layer_forgotten",
            _forwards(lambda self, x: torch.relu(self.linear_in(x))),
            "Your result stops at the hidden layer. Which layer leads back to d_model?",
        ),
        Mistake(
            "names_forgotten",
            _NamesForgotten,
            "The network works, but nobody finds its parts. Which two names does the docstring give them?",
        ),
        slip("dropout_added", _bending(lambda x: F.dropout(torch.relu(x), 0.5))),
        slip("squeezed", _forwards(lambda self, x: _Network.forward(self, x).squeeze())),
        Mistake(
            "x_changed",
            _forwards(lambda self, x: (lambda y: (x.detach().relu_(), y)[1])(_Network.forward(self, x))),
            "The result is right, but the caller's x has lost its negative numbers on the way. What does the "
            "underscore at the end of a method's name mean?",
        ),
        Mistake(
            "graph_cut",
            _bending(lambda x: torch.relu(x).detach()),
            "The numbers are right, but the first layer never learns: no gradient gets back to it. Where is the graph "
            "cut?",
        ),
    ),
    variants={
        "one line": _Network,
        "a sequence with names": _Sequence,
        "made from its end": _BackwardsMade,
        "token by token": _forwards(_token_by_token),
        "maximum": _bending(lambda x: torch.maximum(x, torch.zeros_like(x))),
        "where": _bending(lambda x: torch.where(x > 0, x, 0.0)),
        "weights by hand": _forwards(
            lambda self, x: (
                F.relu(x @ self.linear_in.weight.T + self.linear_in.bias) @ self.linear_out.weight.T
                + self.linear_out.bias
            )
        ),
    },
)
