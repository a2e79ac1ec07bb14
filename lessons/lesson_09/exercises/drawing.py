"""Drawing arrays, and the aspects that all layers of this lesson share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.authoring.aspects import CONTENT, KNOWN, also, main, special
from grader.authoring.spec import Aspect

Inputs = dict[str, Any]
SEEN = ("output", "input_gradient", "weight_gradients", "again")
CALLED: Mapping[str, str] = {
    "input_gradient": "what backward returns",
    "weight_gradients": "the gradients of the weights",
    "again": "what a second pass gives",
    "beginning": "how the weights begin",
    "parts": "the shapes of the weights",
}


def normal(generator: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Standard normal numbers."""
    return generator.standard_normal(shape).astype(dtype)


def linear(generator: np.random.Generator, name: str, d_in: int, d_out: int, dtype: Any = np.float64) -> Inputs:
    """Weights of a `Linear` by dotted name."""
    dot = f"{name}." if name else ""
    return {
        f"{dot}weight": (normal(generator, d_in, d_out) / d_in**0.5).astype(dtype),
        f"{dot}bias": (normal(generator, d_out) / 2).astype(dtype),
    }


def norm(generator: np.random.Generator, name: str, d_model: int, dtype: Any = np.float64) -> Inputs:
    """Weights of a `LayerNorm`: a stretch away from 1, and a shift."""
    dot = f"{name}." if name else ""
    return {
        f"{dot}weight": (1 + normal(generator, d_model) / 2).astype(dtype),
        f"{dot}bias": (normal(generator, d_model) / 2).astype(dtype),
    }


def attention(generator: np.random.Generator, name: str, d_model: int, dtype: Any = np.float64) -> Inputs:
    """Weights of a `MultiHeadAttention`."""
    dot = f"{name}." if name else ""
    drawn: Inputs = {}
    for layer in ("query", "key", "value", "output"):
        drawn |= linear(generator, f"{dot}{layer}", d_model, d_model, dtype)
    return drawn


def feed_forward(generator: np.random.Generator, name: str, d_model: int, d_ff: int, dtype: Any = np.float64) -> Inputs:
    """Weights of a `FeedForward`."""
    dot = f"{name}." if name else ""
    into = linear(generator, f"{dot}linear_in", d_model, d_ff, dtype)
    return into | linear(generator, f"{dot}linear_out", d_ff, d_model, dtype)


def of_layer(
    *specials: Aspect,
    weights: bool = True,
    beginning: bool = False,
    parts: bool = True,
    returns: bool = True,
    forward: float = 2.0,
) -> tuple[Aspect, ...]:
    """What matters about a layer: its output, what backward returns, what it sets, and that nothing is left over."""
    wanted = [
        main("forward", forward, meaning="`forward` returns the right result, entry by entry."),
        Aspect(
            "the gradient that backward returns",
            ("input_gradient",),
            KNOWN - {"dtype"},
            3.0 if returns else 0.5,
            meaning="`backward` returns the right gradient for each input.",
        ),
        Aspect(
            "a second pass starts afresh",
            ("again",),
            KNOWN - {"dtype"},
            1.0,
            meaning="A second forward and backward pass, on other inputs, gives that pass's gradients and no others.",
        ),
        *specials,
        Aspect(
            "dtype kept",
            SEEN,
            frozenset({"dtype"}),
            0.5,
            meaning="The results keep the dtype of the arguments: float32 stays float32, and float64 stays float64.",
        ),
        also(
            "arguments untouched",
            "arguments",
            weight=0.5,
            meaning="Inputs, incoming gradients and weights are afterwards as they were before.",
        ),
    ]
    if weights:
        meaning = "`backward` sets the right gradient for each weight and bias."
        wanted.insert(
            2, Aspect("the gradients of the weights", ("weight_gradients",), KNOWN - {"dtype"}, 3.0, meaning=meaning)
        )
    else:
        wanted[1] = Aspect(**{**vars(wanted[1]), "keys": ("input_gradient", "weight_gradients")})
    if parts:
        meaning = "The weights have the names and shapes that the docstring gives."
        wanted.append(also("named parts", "parts", weight=0.5, meaning=meaning))
    else:
        wanted[-1] = Aspect(**{**vars(wanted[-1]), "keys": ("arguments", "parts")})
    if beginning:
        meaning = "A new layer's weights begin as the docstring says."
        wanted.append(also("the weights begin as they should", "beginning", weight=0.5, meaning=meaning))
    return tuple(wanted)


def one(name: str = "a batch of one", tag: str = "one", meaning: str = "") -> Aspect:
    """The output in the cases with one tag; the gradients there belong to the gradients."""
    return special(name, tag, 0.5, meaning)


__all__ = ["CALLED", "CONTENT", "Inputs", "attention", "feed_forward", "linear", "norm", "normal", "of_layer", "one"]
