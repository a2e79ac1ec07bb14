"""`byte_pair_vocabulary`: how it is tried."""

import numpy as np

from cellcheck.authoring.aspects import main, special, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_02.drawing import draw_merges

DOUBLED = special(
    "the same token twice", meaning="A token that two merges make has one id, the first, and no id is left out."
)
ONE = special("a single merge", meaning="A single merge gives the right vocabulary too.")
NONE = special("no merges", meaning="An empty list of merges gives an empty vocabulary.")


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        Case.of("on a few merges", merges=draw_merges(generator)[:3]),
        Case.of("on more merges", merges=draw_merges(generator)),
        Case.of("where two merges make the same token", DOUBLED, merges=draw_merges(generator, doubled=True)),
        Case.of("on a single merge", ONE, merges=draw_merges(generator)[:1]),
        Case.of("without any merges", NONE, merges=[]),
    ]


TRIAL = Trial(
    module="transformer_course.byte_pairs",
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
