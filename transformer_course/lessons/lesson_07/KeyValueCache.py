"""`KeyValueCache`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, dtype, main, shape, special
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.spec import Case, Trial

LAYERS = special("each layer by itself", "", 8.0, "Each layer has keys and values of its own.")
CACHES = special("each cache by itself", meaning="Two caches share nothing.")
MANY = special("several tokens at once", meaning="Several tokens may be added at once.")
NOTHING = special("nothing new", meaning="Adding no token returns what is already there, even if that is nothing.")
SMALLEST = special("one row, one head", meaning="One row, one head and d_head = 1 give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(
        sizes: list[int], layers: list[int], new: list[int] | None = None, kind: torch.dtype = torch.float32
    ) -> dict[str, Any]:
        """Keys and values, (batch, heads, new, d_head), for one layer after the other."""
        batch, heads, d_head = sizes
        lengths = new or [1] * len(layers)
        steps = [
            (layer, *(normal(generator, batch, heads, length, d_head, dtype=kind) for _ in range(2)))
            for layer, length in zip(layers, lengths, strict=True)
        ]
        return {"steps": steps, "caches": 1}

    sizes, side = dims(generator, 3, 2, 5), int(generator.integers(2, 4))
    many = draw([1, 1, 2], [*range(26), *range(26)])
    several = {**draw(sizes, [0, 0, 0, 0, 0, 0]), "caches": 2}
    return [
        Case.of("with one layer", **draw(sizes, [0, 0, 0, 0])),
        Case.of("where all sizes are equal", **draw([side] * 3, [0] * (side + 2))),
        Case.of("with two layers in turn", LAYERS, **draw(sizes, [0, 1, 0, 1, 0, 1])),
        Case.of("with three layers of different lengths", LAYERS, **draw(sizes, [0, 1, 2, 2, 0, 2, 2])),
        Case.of("with 26 layers", LAYERS, **many),
        Case.of("with several tokens at once", MANY, **draw(sizes, [0, 0, 0], [3, 1, 2])),
        Case.of("where nothing is added", NOTHING, **draw(sizes, [0, 0, 0, 0], [2, 0, 1, 0])),
        Case.of("where nothing comes first", NOTHING, **draw(sizes, [0, 0, 0], [0, 1, 2])),
        Case.of("with two caches in turn", CACHES, **several),
        Case.of("with one row, one head and d_head = 1", SMALLEST, **draw([1, 1, 1], [0, 0, 1, 0])),
        Case.of("with float64", FLOAT64, **draw(sizes, [0, 1, 0], None, torch.float64)),
    ]


def _shared(symbol: Any) -> bool:
    """Whether two caches are one. The sizes are those of no case."""
    one = torch.zeros(7, 7, 1, 7)
    try:
        first, second = (symbol().append(0, one, one)[0].shape[2] for _ in range(2))
        return bool(second > first)
    except Exception:
        return False


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Appends to one cache, or to several in turn; what each append returns.

    Raises:
        RuntimeError: when a new cache holds what another was given. All that follows would go wrong, and not say why.
    """
    if _shared(symbol):
        raise RuntimeError("a new cache is not empty: it holds what was given to another cache")
    caches = [symbol() for _ in range(inputs["caches"])]
    return {"output": [caches[place % len(caches)].append(*step) for place, step in enumerate(inputs["steps"])]}


TRIAL = Trial(
    module="transformer_course.caching",
    points=2,
    cases=cases,
    probe=probe,
    aspects=(
        shape(),
        main("everything so far, oldest first", meaning="append returns all the keys and values so far, oldest first."),
        LAYERS,
        CACHES,
        MANY,
        NOTHING,
        SMALLEST,
        dtype(),
        FLOAT64,
    ),
)
