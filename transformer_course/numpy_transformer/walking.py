"""Finding the weights of a model, whatever its parts are called: what an optimiser, a checkpoint and a check need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def layers_of(model: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a model that has a `forward`, by dotted name, each object once: ("blocks.0.norm1", norm).

    Looks into attributes, lists, tuples and dicts. The model itself comes first, under `name`.
    """
    yield from _layers(model, name, set())


def _layers(value: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, list | tuple | dict):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
    elif hasattr(type(value), "forward") and hasattr(value, "__dict__"):
        yield name, value
        inside = vars(value).items()
    else:
        return
    for part, item in list(inside):
        yield from _layers(item, f"{name}.{part}" if name else str(part), seen)


def weights_of(model: Any) -> dict[str, np.ndarray]:
    """The arrays that a model learns, by dotted name, in the order in which its parts were made.

    >>> from transformer_course.numpy_transformer.layers import FeedForward
    >>> [f"{name} {array.shape}" for name, array in weights_of(FeedForward(2, 8)).items()]
    ['linear_in.weight (2, 8)', 'linear_in.bias (8,)', 'linear_out.weight (8, 2)', 'linear_out.bias (2,)']
    """
    return {name: getattr(layer, kind) for name, layer, kind in _learned(model)}


def gradients_of(model: Any) -> dict[str, np.ndarray]:
    """What the last `backward` set, under the names of `weights_of`.

    Raises:
        AttributeError: when a layer has no gradient, since no `backward` has reached it.
    """
    return {name: getattr(layer, f"{kind}_grad") for name, layer, kind in _learned(model)}


def _learned(model: Any) -> Iterator[tuple[str, Any, str]]:
    for name, layer in layers_of(model):
        for kind in ("weight", "bias"):
            if isinstance(getattr(layer, kind, None), np.ndarray):
                yield f"{name}.{kind}" if name else kind, layer, kind


def prepared(model: Any, seed: int, dtype: Any = np.float32) -> Any:
    """The same model, with fresh weights from `seed` and in `dtype`, however its layers began.

    Matrices with a bias get numbers of size 1 / sqrt(d_in), tables without one get 0.1; biases are 0, and the weights
    of a norm are 1. So what comes out of an experiment doesn't hang on the order in which a model creates its layers.
    """
    for name, layer, kind in sorted(_learned(model), key=lambda array: array[0]):
        shape = getattr(layer, kind).shape
        generator = np.random.default_rng([seed, *name.encode()])
        if kind == "bias":
            fresh = np.zeros(shape)
        elif len(shape) == 1:
            fresh = np.ones(shape)
        else:
            fresh = generator.standard_normal(shape) * (shape[0] ** -0.5 if hasattr(layer, "bias") else 0.1)
        setattr(layer, kind, fresh.astype(dtype))
    return model


def copied(model: Any) -> dict[str, np.ndarray]:
    """A copy of all weights: what a checkpoint holds."""
    return {name: array.copy() for name, array in weights_of(model).items()}


def restore(model: Any, weights: dict[str, np.ndarray]) -> None:
    """Put a checkpoint's numbers back into a model's own arrays.

    Raises:
        ValueError: when the checkpoint belongs to another model.
    """
    own = weights_of(model)
    if {name: a.shape for name, a in own.items()} != {name: a.shape for name, a in weights.items()}:
        raise ValueError("these weights belong to a model with other layers")
    for name, array in own.items():
        array[...] = weights[name]


def save(path: Path, model: Any) -> None:
    """Write a model's weights to a file, in NumPy's own format."""
    arrays: Any = weights_of(model)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def load(path: Path, model: Any) -> None:
    """Put the weights of a file into a model.

    Raises:
        ValueError: when they belong to another model.
    """
    with np.load(path) as archive:
        restore(model, dict(archive))
