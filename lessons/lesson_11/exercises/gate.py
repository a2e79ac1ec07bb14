"""`SwiGLU`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.language_model.modern import SwiGLU
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.aspects import special
from lessons.drawing import Inputs


def gated_weights(
    generator: np.random.Generator, name: str, d_model: int, d_ff: int, kind: torch.dtype = torch.float32
) -> dict[str, torch.Tensor]:
    """Weights of a SwiGLU by dotted name; `name` may be empty."""
    dot = f"{name}." if name else ""
    sizes = {"gate": (d_ff, d_model), "up": (d_ff, d_model), "down": (d_model, d_ff)}
    return {
        f"{dot}{part}.weight": draw.normal(generator, *size, dtype=kind) * 1.5 / size[1] ** 0.5
        for part, size in sizes.items()
    }


def _vectors(generator: np.random.Generator) -> list[Case]:
    def rows(d_ff: int, *sizes: int, kind: torch.dtype = torch.float32) -> Inputs:
        weights = gated_weights(generator, "", sizes[-1], d_ff, kind)
        return {"d_ff": d_ff, "x": draw.normal(generator, *sizes, dtype=kind), "weights": weights}

    b, n, d = draw.dims(generator, 3, 2, 6)
    wide = int(generator.integers(8, 12))
    laid_out = rows(wide, b, n, d)
    return [
        Case("with a wide middle", rows(wide, b, n, d), USUAL),
        Case("with a narrow middle", rows(2, n, b, d + 3), USUAL),
        Case("where d_ff equals d_model", rows(d, b, n, d), USUAL),
        Case("with a single vector", rows(wide, d), tagged("axes")),
        Case("with four axes", rows(wide, 2, b, n, d), tagged("axes")),
        Case("on a batch of one, with a single token", rows(wide, 1, 1, d), tagged("one")),
        Case("with float64", rows(wide, b, n, d, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


class _Gated(nn.Module):
    """The right network; mistakes change one thing about it."""

    bias = False

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.down: Any = nn.Linear(d_ff, d_model, bias=self.bias)
        self.up: Any = nn.Linear(d_model, d_ff, bias=self.bias)
        self.gate: Any = nn.Linear(d_model, d_ff, bias=self.bias)

    def forward(self, x: torch.Tensor) -> Any:
        return self.down(self.hidden(self.gate(x), self.up(x)))

    def hidden(self, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        return gate * torch.sigmoid(gate) * up


def _hiding(hidden: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> type[_Gated]:
    return type("SwiGLU", (_Gated,), {"hidden": lambda self, gate, up: hidden(gate, up)})


def _made(**members: Any) -> type[_Gated]:
    return type("SwiGLU", (_Gated,), members)


class _OtherNames(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1, self.w3 = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> Any:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class _Module(_Gated):
    """An nn.SiLU, and the product by einsum."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, d_ff)
        self.activation = nn.SiLU()

    def hidden(self, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        return torch.einsum("...d,...d->...d", self.activation(gate), up)


def _by_weights(self: Any, x: torch.Tensor) -> Any:
    z, u = x @ self.gate.weight.T, x @ self.up.weight.T
    return (z / (1 + torch.exp(-z)) * u) @ self.down.weight.T


SWIGLU = Exercise(
    symbol="SwiGLU",
    points=2,
    cases=_vectors,
    references=(SwiGLU,),
    aspects=(
        parts(2.0),
        also("nothing else to learn", "size", meaning="Three weights without bias are all that learns."),
        shape(),
        values(7.0),
        gradients(),
        special("any number of axes", "axes", meaning="The input may have any number of axes: a vector works too."),
        special("a batch of one, a single token", "one", 0.5),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "gate_and_up_swapped",
            _hiding(lambda gate, up: gate * F.silu(up)),
            "SiLU is applied to up, and not to gate. Which of the two opens and closes?",
            central=True,
        ),
        Mistake(
            "sigmoid",
            _hiding(lambda gate, up: torch.sigmoid(gate) * up),
            "Your gate is a plain sigmoid: that is GLU. What does SiLU multiply the sigmoid by?",
            central=True,
        ),
        Mistake(
            "relu",
            _hiding(lambda gate, up: torch.relu(gate) * up),
            "Your gate uses ReLU, which is exactly 0 for half of all inputs. Which function does the docstring name?",
            central=True,
        ),
        Mistake(
            "gelu",
            _hiding(lambda gate, up: F.gelu(gate) * up),
            "Your gate uses GELU, which is close, but not the same. Which function does the docstring name?",
            central=True,
        ),
        Mistake(
            "no_gate",
            _hiding(lambda gate, up: F.silu(up)),
            "The gate has nothing to do. What are the activations of up multiplied by?",
            central=True,
        ),
        Mistake(
            "no_up",
            _hiding(lambda gate, up: F.silu(gate)),
            "up has nothing to do. What does the gate let through?",
            central=True,
        ),
        Mistake(
            "added",
            _hiding(lambda gate, up: F.silu(gate) + up),
            "You add the two halves. What does a gate do with what comes through?",
            central=True,
        ),
        Mistake(
            "no_activation",
            _hiding(lambda gate, up: gate * up),
            "You multiply the two halves as they are. Which of them goes through SiLU first?",
            central=True,
        ),
        Mistake(
            "silu_of_the_product",
            _hiding(lambda gate, up: F.silu(gate * up)),
            "You apply SiLU to the product. Which half alone goes through it?",
            central=True,
        ),
        Mistake(
            "silu_of_both",
            _hiding(lambda gate, up: F.silu(gate) * F.silu(up)),
            "Both halves go through SiLU. Which one is left as it is?",
            central=True,
        ),
        Mistake(
            "softmax",
            _hiding(lambda gate, up: gate.softmax(-1) * up),
            "The numbers of your gate sum to 1. Do units compete here, or does each have a gate of its own?",
            central=True,
        ),
        Mistake(
            "with_bias",
            _made(bias=True),
            "Your layers have a bias. Which argument switches it off?",
        ),
        Mistake(
            "residual_added",
            _made(forward=lambda self, x: x + _Gated.forward(self, x)),
            "Your output is the right one plus x. That step belongs to the block. What does this network return?",
            central=True,
        ),
        Mistake(
            "other_names",
            _OtherNames,
            "The network works, but nobody finds its parts. Which three names does the docstring give them?",
        ),
        Mistake(
            "dropout_added",
            _made(forward=lambda self, x: F.dropout(_Gated.forward(self, x), 0.3, self.training)),
            "Some of your numbers are dropped at random. Does the signature ask for dropout?",
        ),
        Mistake(
            "graph_cut",
            _hiding(lambda gate, up: F.silu(gate).detach() * up),
            "The numbers are right, but no gradient reaches the gate. Where is the graph cut?",
        ),
    ),
    variants={
        "by sigmoid": _Gated,
        "einsum": _Module,
        "by the weights": _made(forward=_by_weights),
    },
)
