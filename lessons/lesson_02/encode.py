"""`encode`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.aspects import main, refused, special, untouched
from grader.authoring.spec import Case, Trial
from lessons.lesson_02.drawing import draw_symbols, draw_text, draw_vocabulary

ONE = special("one character", meaning="A text of one character is encoded correctly too.")
EMPTY = special("an empty text", meaning="An empty text is encoded correctly too.")
SPACES = special("spaces count", meaning="Spaces at either end of the text are encoded like any other character.")
UNKNOWN = refused("unknown characters are refused", weight=5.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(count: int, length: int, unknown: str = "") -> dict[str, Any]:
        symbols = draw_symbols(generator, count)
        text = draw_text(generator, symbols, length)
        return {"text": text + unknown, "vocabulary": draw_vocabulary(generator, symbols)}

    spaced = draw_vocabulary(generator, [" ", *draw_symbols(generator, 4)])
    middle = draw_text(generator, list(spaced), 5)
    return [
        Case.of("on a short text", **draw(5, 7)),
        Case.of("on a longer text", **draw(9, 20)),
        Case.of("on a text of one character", ONE, **draw(4, 1)),
        Case.of("on an empty text", EMPTY, **{**draw(4, 5), "text": ""}),
        Case.of("on spaces at both ends", SPACES, text=f" {middle} ", vocabulary=spaced),
        Case.of("on a text with one unknown character at its end", UNKNOWN, **draw(4, 5, "?")),
        Case.of("on a text of unknown characters", UNKNOWN, **{**draw(4, 5), "text": "?=?"}),
    ]


TRIAL = Trial(
    module="course.vocabulary",
    points=1,
    cases=cases,
    aspects=(
        main("the right ids", meaning="Each character of the text becomes its id, in order."),
        ONE,
        EMPTY,
        SPACES,
        UNKNOWN,
        untouched("the vocabulary stays as it was"),
    ),
)
