"""Drawing arrays, and the aspects that all layers of this lesson share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.authoring.aspects import KNOWN, also, main, special
from grader.authoring.spec import USUAL, Aspect, Case, Observation

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


def block(
    generator: np.random.Generator, attentions: tuple[str, ...], d_model: int, d_ff: int, dtype: Any = np.float64
) -> Inputs:
    """Weights of a block with these attentions: a norm before each of them, and one before the feed-forward network."""
    drawn: Inputs = {}
    for place, name in enumerate(attentions, start=1):
        drawn |= norm(generator, f"norm{place}", d_model, dtype) | attention(generator, name, d_model, dtype)
    drawn |= norm(generator, f"norm{len(attentions) + 1}", d_model, dtype)
    return drawn | feed_forward(generator, "feed_forward", d_model, d_ff, dtype)


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
            tags=USUAL,
            meaning="`backward` returns the right gradient for each input.",
        ),
        Aspect(
            "a second pass starts afresh",
            ("again",),
            KNOWN - {"dtype"},
            1.0,
            tags=USUAL,
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
            2,
            Aspect(
                "the gradients of the weights",
                ("weight_gradients",),
                KNOWN - {"dtype"},
                3.0,
                tags=USUAL,
                meaning=meaning,
            ),
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


def of_some_cases(name: str, weight: float = 0.5, meaning: str = "") -> Aspect:
    """Forward and backward in the cases that name this aspect."""
    return special(name, "", weight, meaning, SEEN)


BATCH_OF_ONE = of_some_cases("a batch of one")
ONE_POSITION = of_some_cases(
    "a batch of one, a single position", meaning="A batch of one and rows of a single position are right too."
)
FLOAT32 = of_some_cases("float32")
FIRST_SIZES = special(
    "the size of the first weights",
    weight=0.5,
    meaning="The random numbers that a new layer begins with lie around 0, and have the size that the docstring gives.",
    keys=("output", "beginning"),
)


def without_rounding(observation: Observation, case: Case | None = None) -> Observation:
    """The gradient of a key's bias is 0 in theory, since a softmax ignores what all scores share; here it is 0 too."""

    def tidy(gradients: Any) -> Any:
        if not isinstance(gradients, dict):
            return gradients
        return {name: _settled(one) if name.endswith("key.bias") else one for name, one in gradients.items()}

    tidied = dict(observation)
    if "weight_gradients" in tidied:
        tidied["weight_gradients"] = tidy(tidied["weight_gradients"])
    if isinstance(tidied.get("again"), list) and len(tidied["again"]) == 2:
        tidied["again"] = [tidied["again"][0], tidy(tidied["again"][1])]
    return tidied


def _settled(gradient: Any) -> Any:
    if not isinstance(gradient, np.ndarray) or gradient.dtype.kind != "f":
        return gradient
    small = 1e-4 if gradient.dtype == np.float32 else 1e-10
    return np.where(np.abs(gradient) < small, np.zeros_like(gradient), gradient)
