"""`causal_mask`: how it is tried."""

import numpy as np
import torch

from cellcheck.authoring.aspects import dtype, shape, special, values, with_words
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_05.openings import CALLED, SEEN, of_a_mask

SHORT = special("one and two positions", meaning="The mask is right even for one or two positions.")
LONG = special("many positions", meaning="The mask is right for a long row too.")


def cases(generator: np.random.Generator) -> list[Case]:
    few, more = sorted(dims(generator, 2, 4, 9))
    return [
        Case.of(f"with {few} positions", length=few),
        Case.of(f"with {more} positions", length=more),
        Case.of("with three positions", length=3),
        Case.of("with two positions", SHORT, length=2),
        Case.of("with a single position", SHORT, length=1),
        Case.of("with forty positions", LONG, length=40),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """The mask, and in words what it opens or hides where it shouldn't."""
    length = case.inputs["length"]
    right = torch.ones(length, length, dtype=torch.bool).tril()
    return {SEEN: of_a_mask(observation["output"], right), **observation}


TRIAL = Trial(
    module="transformer_course.causal",
    points=2,
    cases=cases,
    canonical=canonical,
    called=CALLED,
    aspects=with_words(
        (shape(), values(), SHORT, LONG, dtype("booleans", 2.0, "The entries are True and False.")), SEEN
    ),
)
