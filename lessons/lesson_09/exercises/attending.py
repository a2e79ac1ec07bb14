"""`attention_backward`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course.numpy_transformer.functions import attention_backward, softmax, softmax_backward
from grader.authoring.aspects import special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_09.exercises.drawing import normal

Three = tuple[Any, Any, Any]
NAMES = ("query", "key", "value")


def _draw(
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


def _cases(generator: np.random.Generator) -> list[Case]:
    m, n, d, wide = dims(generator, 4, 2, 7)
    d += d == 4  # the root of 4 is its half, which would hide a mistake
    wide += wide == d
    masked = _draw(generator, (2,), m, n + 1, d, wide)
    masked["weights"][..., 0] = 0.0
    masked["weights"] /= masked["weights"].sum(axis=-1, keepdims=True)
    return [
        Case.of("on a few queries and keys", **_draw(generator, (), m, n, d, wide)),
        Case.of("on a batch of heads", **_draw(generator, (2, 3), m, n, d, wide)),
        Case.of("on a batch of heads of a square shape", **_draw(generator, (2, 3), 3, 3, 3, 3)),
        Case.of("where a key is hidden", "hidden", **masked),
        Case.of("on a single query and a single key", "single", **_draw(generator, (1,), 1, 1, d, wide)),
        Case.of("with float32", "float32", **_draw(generator, (2,), m, n, d, wide, np.float32)),
    ]


def _named(observation: Observation, case: Case) -> Observation:
    """The three gradients under their names."""
    if "error" in observation:
        return observation
    got = observation.get("output")
    three = list(got) if isinstance(got, list | tuple) and len(got) == 3 else [got] * 3
    return {**dict(zip(NAMES, three, strict=True)), "arguments": observation.get("arguments")}


def _rule(
    back: Callable[..., Any] = softmax_backward,
    scale: Callable[[int, int], float] = lambda d, wide: d**-0.5,
    value_by: Callable[..., Any] = lambda w, s: w,
) -> Callable[..., Three]:
    def answer(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
        s = back(w, g @ v.mT) * scale(q.shape[-1], v.shape[-1])
        return s @ k, s.mT @ q, value_by(w, s).mT @ g

    return answer


def _swapped(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    dq, dk, dv = attention_backward(q, k, v, w, g)
    return dk, dq, dv


def _value_not_transposed(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    dq, dk, _dv = attention_backward(q, k, v, w, g)
    return (dq, dk, w @ g) if w.shape[-1] == w.shape[-2] else (dq, dk, softmax(w.mT, -1) @ g)


def _key_not_transposed(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    dq, _, dv = attention_backward(q, k, v, w, g)
    s = softmax_backward(w, g @ v.mT) * q.shape[-1] ** -0.5
    return dq, s @ q if w.shape[-1] == w.shape[-2] else np.zeros_like(k), dv


def _scale_on_query_only(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    dq, dk, dv = attention_backward(q, k, v, w, g)
    return dq, dk * q.shape[-1] ** 0.5, dv


def _by_numpy_root(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    s = softmax_backward(w, g @ v.mT) / np.sqrt(np.array([q.shape[-1]], dtype=np.float64))
    return s @ k, s.mT @ q, w.mT @ g


def _by_einsum(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    dv = np.einsum("...qk,...qd->...kd", w, g)
    dw = np.einsum("...qd,...kd->...qk", g, v)
    ds = w * (dw - np.einsum("...qk,...qk->...q", w, dw)[..., None]) / float(np.sqrt(q.shape[-1]))
    return np.einsum("...qk,...kd->...qd", ds, k), np.einsum("...qk,...qd->...kd", ds, q), dv


def _by_output(q: Any, k: Any, v: Any, w: Any, g: Any) -> Three:
    """The sum over a row of weight * gradient is also the product of output and gradient, as FlashAttention has it."""
    row = ((w @ v) * g).sum(axis=-1, keepdims=True)
    s = w * (g @ v.mT - row) * q.shape[-1] ** -0.5
    return s @ k, np.swapaxes(s, -1, -2) @ q, np.swapaxes(w, -1, -2) @ g


def _head_by_head(q: Any, k: Any, v: Any, w: Any, g: Any) -> list[Any]:
    found = [np.empty_like(q), np.empty_like(k), np.empty_like(v)]
    for place in np.ndindex(q.shape[:-2]):
        for into, each in zip(found, attention_backward(q[place], k[place], v[place], w[place], g[place]), strict=True):
            into[place] = each
    return found


def _one(name: str, weight: float) -> Aspect:
    return Aspect(
        f"the gradient of the {name}",
        (name,),
        frozenset({"error", "type", "shape", "nan", "mask", "values"}),
        weight,
        tags=frozenset({"usual"}),
        meaning=f"The gradient with respect to the {name} is right, entry by entry.",
    )


ATTENTION_BACKWARD = Exercise(
    symbol="attention_backward",
    points=3,
    cases=_cases,
    references=(attention_backward,),
    canonical=_named,
    called={name: f"the gradient of the {name}" for name in NAMES},
    aspects=(
        _one("query", 2.5),
        _one("key", 2.5),
        Aspect(
            "the gradient of the value",
            ("value",),
            frozenset({"error", "type", "shape", "nan", "mask", "values"}),
            2.5,
            core=True,
            tags=frozenset({"usual"}),
            meaning="The gradient with respect to the value is right, entry by entry.",
        ),
        special("hidden keys", "hidden", 0.5, "A key with weight 0 gets the gradient 0.", NAMES),
        special("one query, one key", "single", 0.5, "A single query with a single key is right too.", NAMES),
        special("float32", "float32", 0.5, keys=NAMES),
        Aspect(
            "dtype kept",
            NAMES,
            frozenset({"dtype"}),
            0.5,
            meaning="The gradients keep the dtype of the arguments: float32 stays float32.",
        ),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "no_jacobian",
            _rule(lambda w, g: w * g),
            "Your gradient goes through the softmax entry by entry. The weights of a row compete: which function have "
            "you written for that?",
            central=True,
        ),
        Mistake(
            "softmax_skipped",
            _rule(lambda w, g: g),
            "The gradient of the weights is used as that of the scores. What stands between scores and weights?",
            central=True,
        ),
        Mistake(
            "scale_forgotten",
            _rule(scale=lambda d, wide: 1.0),
            "The gradients of query and key are too large by the square root of d. The scores were divided: what does "
            "that do to their gradient?",
            central=True,
        ),
        Mistake(
            "divided_by_d",
            _rule(scale=lambda d, wide: 1 / d),
            "You divide by d. What were the scores divided by on the way forward?",
        ),
        Mistake(
            "scale_multiplied",
            _rule(scale=lambda d, wide: d**0.5),
            "You multiply by the root of d where the forward pass divided by it. If scores shrink, do their slopes "
            "with respect to the query grow?",
        ),
        Mistake(
            "scale_of_the_value",
            _rule(scale=lambda d, wide: wide**-0.5),
            "You scale by the root of the value's width. Whose dot products made the scores?",
        ),
        Mistake(
            "scale_on_query_only",
            _scale_on_query_only,
            "The query's gradient is right, the key's is too large by the root of d. Which of the two did the scores "
            "scale?",
        ),
        Mistake(
            "query_and_key_swapped",
            _swapped,
            "You return the key's gradient first. In which order does the docstring ask for the three?",
        ),
        Mistake(
            "key_not_transposed",
            _key_not_transposed,
            "Query and value are right, the key is not. Entry (i, j) says how query i and key j meet: what turns it "
            "round, so that each key gathers from all queries?",
        ),
        Mistake(
            "value_not_transposed",
            _value_not_transposed,
            "Query and key are right. A value collects from all the queries that looked at it: which way round must "
            "the weights be?",
        ),
        Mistake(
            "value_by_the_scores",
            _rule(value_by=lambda w, s: s),
            "Your value gradient uses the gradient of the scores. How much of each value went into an output?",
            central=True,
        ),
        Mistake(
            "in_float64",
            _by_numpy_root,
            "With float32 inputs, two of your gradients come back as float64. Is the root of d an array or a NumPy "
            "number? What would a Python number do?",
        ),
    ),
    variants={
        "einsum": _by_einsum,
        "the row sum from the output": _by_output,
        "head by head": _head_by_head,
    },
)
