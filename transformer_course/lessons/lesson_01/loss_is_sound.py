"""`loss_is_sound`, the bug clinic: a test for a bug that gives no error. How it is tried; the losses are in `patients`.

An answer may ask for a tensor, or take a float as well: the contract says "number", and leaves open which kind.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from cellcheck.authoring.aspects import special, tells_apart
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_01.patients import loss

SOUND, BROKEN = tells_apart(
    meanings={
        "sound": "True for a loss that gives (n, 1) and (n,) predictions the same number.",
        "broken": "False for a loss that compares each prediction with every target.",
    },
    sound="sound losses pass",
    broken="broadcasts are found",
)
ABSOLUTE = special(
    "absolute errors too",
    weight=4.0,
    meaning="A loss that broadcasts is found even if it takes absolute errors instead of squares.",
)
COLUMN = special(
    "broadcasts of flat predictions too",
    meaning="A loss is found out even if it is the flat predictions, (n,), that broadcast.",
)
MILD = special(
    "mild bugs too",
    weight=2.0,
    meaning="A loss is found out even if only one of its two terms broadcasts.",
)
FLOAT = special("losses that return a float", meaning="A loss that returns a Python float is judged correctly too.")

# Per loss: the aspect that it decides about, and the words for the learner.
TRIED = {
    "flat mean": (SOUND, "with a sound loss: the mean of the squared errors, with everything flattened first"),
    "flat sum": (SOUND, "with a sound loss: the sum of the squared errors, with everything flattened first"),
    "flat absolute": (SOUND, "with a sound loss: the mean of the absolute errors, with everything flattened first"),
    "targets reshaped": (SOUND, "with a sound loss that reshapes the targets to fit the predictions"),
    "flat with a constant": (SOUND, "with a sound loss that adds a constant, so it is never zero"),
    "flat float": (FLOAT, "with a sound loss that returns a Python float"),
    "mean": (BROKEN, "with the suspicious loss, the mean of squared errors that broadcast"),
    "sum": (BROKEN, "with a loss that broadcasts: the sum of the squared errors"),
    "root": (BROKEN, "with a loss that broadcasts: the root of the mean squared error"),
    "absolute": (ABSOLUTE, "with a loss that broadcasts: the mean of the absolute errors"),
    "targets as a column": (
        COLUMN,
        "with a loss that turns the targets into a column, so that flat predictions broadcast",
    ),
    "mixture": (MILD, "with a loss of two terms, only one of which broadcasts"),
    "broadcast float": (FLOAT, "with a loss that broadcasts and returns a Python float"),
}


def cases(generator: np.random.Generator) -> list[Case]:
    def scale(name: str) -> float:
        # The mean squared error itself must be among them: it is the yardstick of one of the mistakes.
        return 1.0 if name == "flat mean" else float(generator.uniform(0.5, 0.9))

    return [Case(label, {}, about.tags, partial(loss, name, scale(name))) for name, (about, label) in TRIED.items()]


TRIAL = Trial(
    module="transformer_course.training",
    points=3,
    cases=cases,
    aspects=(replace(SOUND, weight=9.0), BROKEN, ABSOLUTE, COLUMN, MILD, FLOAT),
)
