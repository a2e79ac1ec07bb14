"""`Dropout`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.authoring.aspects import KNOWN, also, main, refused, special, untouched
from grader.authoring.spec import Aspect, Case, Trial
from lessons.lesson_09.drawing import (
    Inputs,
    normal,
)

NO_SHARE = special("p = 0", weight=0.5, meaning="With p = 0, nothing changes.")
EVALUATING = special("not training", weight=1.0, meaning="When `training` is False, nothing changes.")
NEW = special("begins in training", weight=0.5, meaning="A new layer drops numbers without being told to.")
FLOAT32 = special("float32", weight=0.5, meaning="float32 stays float32.")
REFUSED = refused("p outside its range", weight=0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    n = int(generator.integers(40, 60))

    def draw(p: float, training: bool = True, told: bool = True, kind: Any = np.float64) -> Inputs:
        x = normal(generator, n, 100, dtype=kind)
        return {
            "p": p,
            "training": training,
            "told": told,
            "seed": int(generator.integers(1000)),
            "x": (x + np.sign(x)).astype(kind),
            "gradient": normal(generator, n, 100, dtype=kind),
        }

    return [
        Case.of("with p = 0.3", **draw(0.3)),
        Case.of("with p = 0.8", **draw(0.8)),
        Case.of("with p = 0", NO_SHARE, **draw(0.0)),
        Case.of("when it isn't training", EVALUATING, **draw(0.4, training=False)),
        Case.of("when it is new", NEW, **draw(0.4, told=False)),
        Case.of("with float32", FLOAT32, **draw(0.3, kind=np.float32)),
        Case.of("with p = 1", REFUSED, p=1.0),
        Case.of("with a negative p", REFUSED, p=-0.1),
    ]


TRIAL = Trial(
    module="course.numpy_transformer.layers",
    points=2,
    cases=cases,
    called={"output": "what forward makes of its input", "back": "what backward does", "fresh": "a second pass"},
    aspects=(
        main("forward", 2.0, meaning="A share p of the numbers becomes 0, and the others are divided by 1 - p."),
        Aspect(
            "backward",
            ("back",),
            KNOWN,
            4.0,
            meaning="`backward` drops and divides exactly what `forward` dropped and divided.",
        ),
        also("drawn anew each time", "fresh", weight=0.5, meaning="Each forward pass in training drops other numbers."),
        NO_SHARE,
        EVALUATING,
        NEW,
        FLOAT32,
        REFUSED,
        untouched(weight=0.5),
    ),
)
