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


def by_name(observation: Observation, case: Case) -> Observation:
    """The three gradients under their names."""
    if "error" in observation:
        return observation
    got = observation.get("output")
    three = list(got) if isinstance(got, list | tuple) and len(got) == 3 else [got] * 3
    return {**dict(zip(NAMES, three, strict=True)), "arguments": observation.get("arguments")}


def of_one(name: str, core: bool = False) -> Aspect:
    return Aspect(
        f"the gradient of the {name}",
        (name,),
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
        of_one("query"),
        of_one("key"),
        of_one("value", core=True),
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
