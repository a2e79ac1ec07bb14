"""`Adam`: how it is tried."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.aspects import special
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_09.descents import BESIDE, CALLED, FLOAT32, draw_steps, of_optimiser
from transformer_course.lessons.wordings import usually_in_words

FIRST = special(
    "the first step",
    weight=1.0,
    meaning="The first step already has the right size, with the default learning rate too.",
    keys=("output", "default"),
)
SIZES = special(
    "gradients of any size", weight=0.5, meaning="Huge gradients and tiny ones give steps of the same size."
)
BETAS = special("other betas", weight=0.5, meaning="The betas that are passed in are used.")
EPS = special("eps", weight=1.0, meaning="eps is added after the root, and the one that is passed in is used.")


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    wide = draw_steps(generator, 3)
    for step in wide["gradients"]:
        step[0][0, 0] *= 1e4
        step[1][0] *= 1e-4
    return [
        Case.of("after one step", FIRST, **draw_steps(generator, 1)),
        Case.of("after several steps", **draw_steps(generator, 5)),
        Case.of("on gradients of very different sizes", SIZES, **wide),
        Case.of("with other betas", BETAS, **draw_steps(generator, 4, betas=(0.7, 0.8))),
        Case.of("with a large eps", EPS, **draw_steps(generator, 3, eps=0.5)),
        Case.of("beside another optimiser", BESIDE, **draw_steps(generator, 3), beside=True),
        Case.of("with float32", FLOAT32, **draw_steps(generator, 3, np.float32)),
        Case.of("where no learning rate is passed in", FIRST, parameters=[], gradients=[]),
    ]


TRIAL = Trial(
    module="transformer_course.numpy_transformer.optimisers",
    points=2,
    cases=cases,
    called={**CALLED, "default": "the default learning rate"},
    aspects=of_optimiser(FIRST, SIZES, BETAS, EPS),
)
