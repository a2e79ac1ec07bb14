"""`byte_pair_vocabulary`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Case, Trial
from lessons.lesson_02.drawing import draw_merges

DOUBLED = special(
    "the same token twice",
    meaning="A token that two merges make has one id, the first, and no id is left out.",
)
ONE = special("a single merge", meaning="A single merge gives the right vocabulary too.")
NONE = special("no merges", meaning="An empty list of merges gives an empty vocabulary.")


def cases(generator: np.random.Generator) -> list[Case]:
    plain = draw_merges(generator)
    return [
        Case.of("on a few merges", merges=plain[:3]),
        Case.of("on more merges", merges=plain),
        Case.of("where two merges make the same token", DOUBLED, merges=draw_merges(generator, doubled=True)),
        Case.of("on a single merge", ONE, merges=plain[:1]),
        Case.of("without any merges", NONE, merges=[]),
    ]


TRIAL = Trial(
    module="course.byte_pairs",
    points=1,
    cases=cases,
    aspects=(
        main("an id for each merged token", meaning="Each merged token gets the id that the docstring gives it."),
        DOUBLED,
        ONE,
        NONE,
        untouched("the merges stay as they were"),
    ),
)
