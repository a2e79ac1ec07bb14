"""`attention_backward`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import special, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import (
    normal,
)
from transformer_course.numpy_transformer.functions import softmax

NAMES = ("query", "key", "value")
HIDDEN = special("hidden keys", "", 0.5, "A key with weight 0 gets the gradient 0.", NAMES)
SINGLE = special("one query, one key", "", 0.5, "A single query with a single key is right too.", NAMES)
FLOAT32 = special("float32", weight=0.5, keys=NAMES)


def draw(
    generator: np.random.Generator, front: tuple[int, ...], m: int, n: int, d: int, wide: int, kind: Any = np.float64
) -> dict[str, Any]:
    q, k = normal(generator, *front, m, d, dtype=kind), normal(generator, *front, n, d, dtype=kind)
    scores = q @ k.mT / kind(d**0.5)
    return {
        "query": q,
        "key": k,
        "value": normal(generator, *front, n, wide, dtype=kind),
        "weights": softmax(scores),
        "gradient": normal(generator, *front, m, wide, dtype=kind),
    }


def cases(generator: np.random.Generator) -> list[Case]:
    m, n, d, wide = dims(generator, 4, 2, 7)
    d += d == 4  # the root of 4 is its half, which would hide a mistake
    wide += wide == d
    masked = draw(generator, (2,), m, n + 1, d, wide)
    masked["weights"][..., 0] = 0.0
    masked["weights"] /= masked["weights"].sum(axis=-1, keepdims=True)
    return [
        Case.of("on a few queries and keys", **draw(generator, (), m, n, d, wide)),
        Case.of("on a batch of heads", **draw(generator, (2, 3), m, n, d, wide)),
        Case.of("on a batch of heads of a square shape", **draw(generator, (2, 3), 3, 3, 3, 3)),
        Case.of("where a key is hidden", HIDDEN, **masked),
        Case.of("on a single query and a single key", SINGLE, **draw(generator, (1,), 1, 1, d, wide)),
        Case.of("with float32", FLOAT32, **draw(generator, (2,), m, n, d, wide, np.float32)),
    ]


_ORDER = (
    "Your three gradients have the right shapes, in another order: the first of them is that of the {first}. In which "
    "order does the docstring ask for them?"
)


def by_name(observation: Observation, case: Case) -> Observation:
    """The three gradients under their names."""
    if "error" in observation:
        return observation
    got = observation.get("output")
    three = list(got) if isinstance(got, list | tuple) and len(got) == 3 else [got] * 3
    shapes = [one.shape if isinstance(one, np.ndarray) else () for one in three]
    wanted = [case.inputs[name].shape for name in NAMES]
    if sorted(shapes) == sorted(wanted):
        order = _ORDER.format(first=NAMES[wanted.index(shapes[0])])
        three = [one if shape == its else order for one, shape, its in zip(three, shapes, wanted, strict=True)]
    return {
        "keys_together": keys_together(three[1], three[0], case),
        "values_together": values_together(three[2], case),
        **dict(zip(NAMES, three, strict=True)),
        "arguments": observation.get("arguments"),
    }


def keys_together(gradient: Any, of_query: Any, case: Case) -> str:
    """What the gradients of all keys add up to."""
    if not isinstance(gradient, np.ndarray) or gradient.shape != case.inputs["key"].shape:
        return "as they should"
    if adds_up(gradient, np.zeros_like(gradient).sum(axis=-2)):
        return "as they should"
    if isinstance(of_query, np.ndarray) and np.allclose(of_query, _gradient_of_query(**case.inputs), rtol=1e-3):
        return (
            "The gradient of the query is right, so that of the scores is right, too. That of the keys isn't: what did "
            "each key meet on the way forward, to make its scores?"
        )
    return (
        "If all keys move by the same vector, all scores of a query change alike, and no weight does: the gradients of "
        "the keys must add up to 0. Yours don't. Do those of a query's scores, and what did each key meet to make them?"
    )


def _gradient_of_query(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, weights: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    of_weights = gradient @ value.mT
    of_scores = weights * (of_weights - (weights * of_weights).sum(axis=-1, keepdims=True))
    return np.asarray(of_scores @ key / query.shape[-1] ** 0.5)


def values_together(gradient: Any, case: Case) -> str:
    """What the gradients of all values add up to."""
    if not isinstance(gradient, np.ndarray) or gradient.shape != case.inputs["value"].shape:
        return "as they should"
    if adds_up(gradient, case.inputs["gradient"].sum(axis=-2)):
        return "as they should"
    got, wanted = gradient.sum(axis=-2), case.inputs["gradient"].sum(axis=-2)
    factor = float(got.flat[0] / wanted.flat[0])
    if 1e-3 < abs(factor) < np.inf and np.allclose(got, factor * wanted, rtol=1e-3):
        return (
            "If all values move by the same vector, so does each output, since its weights add up to 1: the gradients "
            f"of the values must add up to those of the outputs. Yours add up to {factor:.3g} times that. Which factor "
            "comes on top, or is it a mean that should be a sum?"
        )
    return (
        "If all values move by the same vector, so does each output, since its weights add up to 1: the gradients of "
        "the values must add up to those of the outputs. Yours don't: how much of each value went into an output?"
    )


def adds_up(gradient: np.ndarray, wanted: np.ndarray) -> bool:
    room = np.abs(gradient).sum() * (1e-3 if gradient.dtype == np.float32 else 1e-8) + 1e-6
    return not (np.abs(gradient.sum(axis=-2) - wanted) > room).any()


def of_one(name: str, *words: str, core: bool = False) -> Aspect:
    return Aspect(
        f"the gradient of the {name}",
        (*words, name),
        frozenset({"error", "type", "shape", "nan", "mask", "values"}),
        2.5,
        core=core,
        tags=USUAL,
        meaning=f"The gradient with respect to the {name} is right, entry by entry.",
    )


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=3,
    cases=cases,
    canonical=by_name,
    called={name: f"the gradient of the {name}" for name in NAMES},
    aspects=(
        of_one("key", "keys_together"),
        of_one("query"),
        of_one("value", "values_together", core=True),
        HIDDEN,
        SINGLE,
        FLOAT32,
        Aspect(
            "dtype kept",
            NAMES,
            frozenset({"dtype"}),
            0.5,
            meaning="The gradients keep the dtype of the arguments: float32 stays float32.",
        ),
        untouched(weight=0.5),
    ),
)
