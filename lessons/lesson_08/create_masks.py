"""`create_masks`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.aspects import USUAL, special, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Trial
from lessons.lesson_04.drawing import draw_tokens, ragged, turned

ANYWHERE = special("padding anywhere in a row", meaning="Padding between real tokens is hidden too.")
SMALLEST = special(
    "a batch of one, a single target token",
    meaning="A batch of one and a target of a single token give the right masks too.",
)
EMPTY = special("rows that are all padding", meaning="A row of nothing but padding is hidden as a whole.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, source_length: int, target_length: int) -> dict[str, Any]:
        return {
            "source": draw_tokens(generator, ragged(generator, batch, source_length), source_length, 12),
            "target_input": draw_tokens(generator, ragged(generator, batch, target_length), target_length, 9),
        }

    batch, source_length, target_length = dims(generator, 3, 3, 8)
    other = draw(source_length, target_length, batch)
    gaps = draw(batch, source_length, target_length)
    gaps["source"][:, 1] = 0
    gaps["target_input"] = draw_tokens(generator, [target_length] * batch, target_length, 9)
    gaps["target_input"][0, 1], gaps["target_input"][1, 0] = 0, 0
    empty = draw(3, source_length, target_length)
    empty["source"][1], empty["target_input"][2] = 0, 0
    strided = {name: turned(ids) for name, ids in draw(batch, source_length, target_length).items()}
    return [
        Case.of("with rows of different lengths", **draw(batch, source_length, target_length)),
        Case.of("with other sizes", **other),
        Case.of("where source and target are equally long", **draw(batch, source_length, source_length)),
        Case.of("where all sizes are equal", **draw(4, 4, 4)),
        Case.of("with padding between tokens", ANYWHERE, **gaps),
        Case.of("on a batch of one", SMALLEST, **draw(1, source_length, target_length)),
        Case.of("with a single target token", SMALLEST, **draw(batch, source_length, 1)),
        Case.of("with rows that are all padding", EMPTY, **empty),
        Case.of("with tensors that are not contiguous", **strided),
    ]


TRIAL = Trial(
    module="course.paper.masks",
    points=2,
    cases=cases,
    aspects=(
        Aspect(
            "two masks, each of its shape",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a pair: (batch, 1, 1, source_length) and (batch, 1, target_length, target_length).",
        ),
        values(),
        ANYWHERE,
        SMALLEST,
        EMPTY,
        Aspect("booleans", kinds=frozenset({"dtype"}), weight=2.0, meaning="The entries are True and False."),
        untouched(),
    ),
)
