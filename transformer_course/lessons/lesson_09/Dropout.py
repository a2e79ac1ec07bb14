"""`Dropout`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import CONTENT, central, main, refused, special
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import Inputs, normal

AHEAD = ("dropped", "divided", "alone")
BACKWARD = ("back_drops", "back_divides")
BOTH = (*AHEAD, *BACKWARD)
NO_SHARE = special("p = 0", weight=0.5, meaning="With p = 0, nothing changes.", keys=BOTH)
EVALUATING = special("not training", weight=1.5, meaning="When `training` is False, nothing changes.", keys=BOTH)
NEW = special("begins in training", weight=0.5, meaning="A new layer drops numbers without being told to.", keys=AHEAD)
REFUSED = refused("p outside its range", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    n = int(generator.integers(40, 60))

    def draw(p: float, training: bool = True, told: bool = True, back: bool = True, kind: Any = np.float64) -> Inputs:
        x, gradient = normal(generator, n, 100, dtype=kind), normal(generator, n, 100, dtype=kind)
        return {
            "p": p,
            "training": training,
            "told": told,
            "back": back,
            "seed": int(generator.integers(1000)),
            "x": (x + np.sign(x)).astype(kind),
            "gradient": (gradient + np.sign(gradient)).astype(kind),
        }

    return [
        Case.of("with p = 0.3, going forward", "forward", **draw(0.3, back=False)),
        Case.of("with p = 0.8, going forward", "forward", **draw(0.8, back=False)),
        Case.of("with p = 0.3", "backward", **draw(0.3)),
        Case.of("with p = 0.8", "backward", **draw(0.8)),
        Case.of("with p = 0.4, several times", "draws", **draw(0.4), others=True),
        Case.of("with p = 0", NO_SHARE, **draw(0.0)),
        Case.of("when it isn't training", EVALUATING, **draw(0.4, training=False)),
        Case.of("when it is new", NEW, **draw(0.4, told=False, back=False)),
        Case.of("with float32", "float32", **draw(0.3, kind=np.float32)),
        Case.of("with p = 1", REFUSED, p=1.0, seed=0),
        Case.of("with a negative p", REFUSED, p=-0.1, seed=0),
    ]


ASPECTS = (
    main("forward", 2.0, AHEAD, "A share p of the numbers becomes 0, and the others are divided by 1 - p.", "forward"),
    central(
        special(
            "backward",
            weight=4.0,
            meaning="`backward` drops and divides exactly what `forward` dropped and divided.",
            keys=BACKWARD,
        )
    ),
    special(
        "drawn again in each pass",
        "draws",
        0.5,
        "In training, each forward pass drops other numbers.",
        ("fresh", "follows"),
    ),
    special(
        "drawn from the generator",
        "draws",
        0.5,
        "Equal generators drop equal numbers, and different ones drop different numbers.",
        ("generator",),
    ),
    NO_SHARE,
    EVALUATING,
    NEW,
    special("dtype kept", "float32", 0.5, "float32 stays float32, forward and backward.", ("dtype", "back_dtype")),
    REFUSED,
    Aspect(
        "arguments untouched",
        ("left",),
        CONTENT - {"error"},
        0.5,
        meaning="The input and the incoming gradient are afterwards as they were before.",
    ),
)


def looked_at(observation: Observation, case: Case) -> Observation:
    """What the case is about: the probe sees more."""
    keys = {key for aspect in ASPECTS if aspect.tags <= case.tags for key in aspect.keys}
    return {key: value for key, value in observation.items() if key in keys}


TRIAL = Trial(
    module="transformer_course.numpy_transformer.layers",
    points=2,
    cases=cases,
    shown=lambda case: {},
    called={
        "dropped": "what forward sets to 0",
        "divided": "how forward divides the others",
        "alone": "what is dropped together",
        "dtype": "the dtype that forward returns",
        "back_drops": "what backward sets to 0",
        "back_divides": "how backward divides the others",
        "back_dtype": "the dtype that backward returns",
        "fresh": "what a second forward pass drops",
        "follows": "the pass that backward follows",
        "generator": "what decides which numbers are dropped",
        "left": "what was handed in",
    },
    aspects=ASPECTS,
    canonical=looked_at,
)
