"""Drawing arrays, and the aspects that all layers of this lesson share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import also, central, main, named_parts, special
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, tagged
from transformer_course.lessons.wordings import IN_WORDS

Inputs = dict[str, Any]
SEEN = ("output", "input_gradient", "weight_gradients")
BACK = ("input_gradient", "weight_gradients")
CALLED: Mapping[str, str] = {
    "output": "what forward returns",
    "wiring": "how the parts are joined",
    "way_back": "how the parts are joined on the way back",
    "input_gradient": "what backward returns",
    "weight_gradients": "the gradients of the weights",
    "returned": "the gradients that backward returns",
    "gathered": "the gradients that backward sets",
    "again": "what a second pass gives",
    "beginning": "how the weights begin",
    "two": "two new layers of one size",
    "parts": "the shapes of the weights",
    "left": "what was handed in",
    "own_slopes": "the gradient of a query without any allowed key",
}
FORWARD, PLAIN = "forward", "plain"
"""The tags of cases that go forward only, and of those that go back as well and have nothing special about them."""


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
    gradients: float = 7.5,
) -> tuple[Aspect, ...]:
    """What matters about a layer: its output, what backward returns, what it sets, and that nothing is left over."""
    meaning = "`backward` returns the right gradient for each input."
    returned = special(
        "the gradient that backward returns",
        PLAIN,
        gradients if returns else 0.5,
        meaning,
        ("way_back", "returned", *BACK[: 1 + (not weights)]),
    )
    wanted = [
        main(
            "forward",
            forward,
            ("wiring", "output"),
            "`forward` returns the right result, entry by entry.",
            FORWARD,
        ),
        central(returned) if returns else returned,
    ]
    if weights:
        meaning = "`backward` sets the right gradient for each weight and bias."
        gathered = special("the gradients of the weights", PLAIN, gradients, meaning, ("gathered", "weight_gradients"))
        wanted.append(central(gathered))
    meaning = "A layer that has been used before, or beside another one, gives the same gradients as a new one."
    wanted += [
        also("a second pass starts afresh", "again", weight=1.5, meaning=meaning),
        *specials,
        Aspect("dtype kept", SEEN, frozenset({"dtype"}), 0.5, meaning="float32 stays float32, forward and backward."),
        also(
            "arguments untouched",
            "left",
            weight=0.75,
            meaning="Inputs, incoming gradients and weights are afterwards as they were before.",
        ),
    ]
    if parts:
        meaning = "The weights have the names and shapes that the docstring gives."
        wanted.append(named_parts(meaning, weight=0.25))
    if beginning:
        meaning = "A new layer's weights begin as the docstring says."
        wanted.append(also("the weights begin as they should", "beginning", weight=0.5, meaning=meaning))
    return tuple(wanted)


def of_some_cases(name: str, weight: float = 0.5, meaning: str = "") -> Aspect:
    """Forward in the cases that name this aspect."""
    return special(name, "", weight, meaning)


def back(of: Aspect, weight: float = 0.5, meaning: str = "") -> Aspect:
    """Backward in the cases that name an aspect."""
    return special(f"{of.name} on the way back", "", weight, meaning, BACK)


BATCH_OF_ONE = of_some_cases("a batch of one", 0.25)
ONE_POSITION = of_some_cases(
    "a batch of one, a single position", 0.25, meaning="A batch of one and rows of a single position are right too."
)
FLOAT32 = of_some_cases("float32", 0.25)
FIRST_SIZES = special(
    "the first weights",
    weight=1.0,
    meaning="The random numbers that a new layer begins with lie around 0, have the size that the docstring gives, and "
    "are others in each layer.",
    keys=("output", "beginning", "two"),
)


def there_and_back(*cases: Case, special: tuple[Aspect, ...] = ()) -> list[Case]:
    """Each case once forward only, and once there and back: what goes wrong on the way back is no fault of forward's.

    The gradients count as those of any case, unless the case is about one of the `special` aspects: then its name with
    "on the way back" is its tag. A case about something else that is special, such as a batch of one, goes there and
    back once: the usual ones tell what is left from the first time. How a layer goes about it is put in words where it
    counts: in the usual cases going forward, and going back where the gradients count as those of any case.
    """
    drawn = []
    for case in cases:
        if case.inputs.get("gradient") is None:
            drawn.append(case)
            continue
        ahead = {name: value for name, value in case.inputs.items() if not name.startswith("other_")}
        of_its_own = [one for one in special if one.name in case.tags]
        usual = case.tags == USUAL
        drawn += [
            replace(
                case,
                label=f"{case.label}, going forward",
                inputs={**ahead, "gradient": None, IN_WORDS: usual},
                tags=tagged(FORWARD) if usual else case.tags,
            ),
            replace(
                case,
                inputs={**(case.inputs if usual or of_its_own else ahead), IN_WORDS: not of_its_own},
                tags=tagged(*(back(one).name for one in of_its_own)) if of_its_own else tagged(PLAIN),
            ),
        ]
    return drawn


def without_rounding(observation: Observation, case: Case | None = None) -> Observation:
    """The gradient of a key's bias is 0 in theory, since a softmax ignores what all scores share; here it is 0 too."""

    def tidy(gradients: Any) -> Any:
        if not isinstance(gradients, dict):
            return gradients
        return {name: _settled(one) if name.endswith("key.bias") else one for name, one in gradients.items()}

    if "weight_gradients" not in observation:
        return observation
    return {**observation, "weight_gradients": tidy(observation["weight_gradients"])}


def _settled(gradient: Any) -> Any:
    if not isinstance(gradient, np.ndarray) or gradient.dtype.kind != "f":
        return gradient
    small = 1e-4 if gradient.dtype == np.float32 else 1e-10
    return np.where(np.abs(gradient) < small, np.zeros_like(gradient), gradient)
