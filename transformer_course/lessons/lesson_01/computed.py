"""What a network computes instead, in words, where its predictions are those of a slip in whatever style."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL
from cellcheck.authoring.spec import Case, Observation
from transformer_course.lessons.watching import AS_ASKED

COMPUTED = "computed"
CALLED = {COMPUTED: "what is computed"}
Curve = Callable[[np.ndarray], np.ndarray]
Layers = Sequence[tuple[np.ndarray, np.ndarray]]


def _sigmoid(z: np.ndarray) -> np.ndarray:
    share: np.ndarray = 1 / (1 + np.exp(-z.clip(-80, 80)))
    return share


def _gelu_by_tanh(z: np.ndarray) -> np.ndarray:
    smooth: np.ndarray = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
    return smooth


def _relu(z: np.ndarray) -> np.ndarray:
    return z.clip(0.0)


def _unchanged(z: np.ndarray) -> np.ndarray:
    return z


CURVES: Mapping[str, Curve] = {
    "gelu(z)": _gelu_by_tanh,  # the exact one is the same to three digits
    "silu(z)": lambda z: z * _sigmoid(z),
    "softplus(z)": lambda z: np.logaddexp(z, 0.0),
    "elu(z)": lambda z: np.where(z > 0, z, np.exp(z.clip(max=0)) - 1),
    "the square of relu(z)": lambda z: _relu(z) ** 2,
    "relu(-z)": lambda z: _relu(-z),
    "-relu(z)": lambda z: -_relu(z),
    "z squared": lambda z: z**2,
    "1 where z is positive, and 0 elsewhere": lambda z: np.where(z > 0, 1.0, 0.0),
    "softmax(z)": lambda z: (
        np.exp(z - z.max(-1, keepdims=True)) / np.exp(z - z.max(-1, keepdims=True)).sum(-1)[:, None]
    ),
    **{f"min(relu(z), {cap})": lambda z, cap=cap: z.clip(0, cap) for cap in (1, 6)},  # type: ignore[misc]
    **{
        f"leaky_relu(z), with a slope of {slope}": lambda z, slope=slope: np.where(z > 0, z, slope * z)  # type: ignore[misc]
        for slope in (0.01, 0.1, 0.2, 0.3)
    },
}
"""What people take for relu(z) between two layers. What a mistake has words for isn't among them."""
BETWEEN: Mapping[str, Curve] = {
    "there is no ReLU between your layers": lambda z: z,
    "between two layers, z becomes tanh(z)": np.tanh,
    "between two layers, z becomes sigmoid(z)": _sigmoid,
    "between two layers, z becomes abs(z)": np.abs,
    **{f"between two layers, z becomes {name}": curve for name, curve in CURVES.items()},
}
BIASES: Mapping[str, float] = {"your biases are left out": 0.0, "your biases are subtracted": -1.0}
AT_THE_END: Mapping[str, Curve] = {"there is a ReLU after the last layer too": _relu}


def in_words(observation: Observation, case: Case) -> Observation:
    """What is seen of a network, and what it computes instead, if its predictions say so."""
    if "output" not in observation or not case.tags >= USUAL:
        return observation
    words = _computed(case.inputs["params"], case.inputs["inputs"], observation["output"])
    return {COMPUTED: words, **observation}


def _computed(params: Any, inputs: Any, output: Any) -> str:
    layers = [(numbers_in(W), numbers_in(b)) for W, b in params]
    x, predictions = numbers_in(inputs), numbers_in(output)
    right = _predicted(layers, x)
    if predictions.shape != right.shape or _near(predictions, right):
        return AS_ASKED
    for words, other in _others(layers, x):
        if _near(predictions, other):
            return words
    if len(layers) < 2 or not (np.abs(predictions) > 0.1).any():  # of zeros nothing is to be said
        return AS_ASKED
    both = [words for words, other in _at_once(layers, x, 2) if _near(predictions, other)]
    if len(both) != 1 or any(
        np.allclose(predictions, other, rtol=1e-2, atol=1e-2) for _, other in _at_once(layers, x, 1)
    ):
        return AS_ASKED  # one slip alone may do it
    return both[0]


def _at_once(layers: Layers, x: np.ndarray, places: int) -> Iterator[tuple[str, np.ndarray]]:
    """Slips in so many places: as edits of one line, mistakes can't be made together."""
    for (bias, times), (between, curve), (end, last) in product(
        [("", 1.0), *BIASES.items()], [("", _relu), *BETWEEN.items()], [("", _unchanged), *AT_THE_END.items()]
    ):
        words = [each for each in (bias, between, end) if each]
        if len(words) == places:
            predictions = last(_predicted([(W, times * b) for W, b in layers], x, curve))
            sentence = " and ".join(words)
            yield (
                f"{sentence[0].upper()}{sentence[1:]}. What does the docstring say about each of the two?",
                predictions,
            )


def _others(layers: Layers, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Slips in words, and what they predict."""
    several = len(layers) > 1
    if several:
        for name, curve in CURVES.items():
            yield (
                f"Between two layers, z becomes {name}. Which function is in the docstring?",
                _predicted(layers, x, curve),
            )
    minus = [(W, -b) for W, b in layers]
    yield "Your biases are subtracted. What does each layer do with its bias?", _predicted(minus, x)
    for at, (W, _) in enumerate(layers):
        if several and W.shape[0] == W.shape[1]:
            words = f"Counted from 0, layer {at} never takes part. Which layers does your loop run over?"
            yield words, _predicted([*layers[:at], *layers[at + 1 :]], x)


def _predicted(layers: Layers, x: np.ndarray, curve: Curve = _relu) -> np.ndarray:
    for at, (W, b) in enumerate(layers):
        x = x @ W + b
        if at < len(layers) - 1:
            x = curve(x)
    return x


def numbers_in(value: Any) -> np.ndarray:
    """As an array of doubles; empty where these are no numbers."""
    try:
        return np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    """Up to what two ways of computing a gelu differ by."""
    return np.allclose(one, other, rtol=2e-3, atol=4e-3)
