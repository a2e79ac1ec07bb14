"""`byte_pair_decode`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Case, Trial
from lessons.lesson_02.drawing import LETTERS, draw_symbols

ONE = special("a single token", meaning="A single token gives the right word too.")
EMPTY = special("no tokens", meaning="An empty list of tokens gives an empty word.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(count: int) -> list[str]:
        while True:
            symbols = draw_symbols(generator, 5, LETTERS)
            tokens = [
                "".join(str(s) for s in generator.choice(symbols, int(generator.integers(1, 4)))) for _ in range(count)
            ]
            tokens[-1] = tokens[0]  # one comes twice
            text = "".join(tokens)
            others = [text[::-1], "".join(tokens[::-1]), "".join(sorted(tokens)), max(tokens, key=len)]
            if text not in others and len(tokens[1]) > 1:
                return tokens

    single = draw(4)[1]
    return [
        Case.of("on a few tokens", tokens=draw(4)),
        Case.of("on more tokens", tokens=draw(7)),
        Case.of("on a single token", ONE, tokens=[single]),
        Case.of("on no tokens", EMPTY, tokens=[]),
    ]


TRIAL = Trial(
    module="course.byte_pairs",
    points=1,
    cases=cases,
    aspects=(
        main("the word again", meaning="The tokens are joined into the word they came from."),
        ONE,
        EMPTY,
        untouched("the tokens stay as they were"),
    ),
)
