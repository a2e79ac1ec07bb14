"""`gradient_check`, the clinic: it has to believe right gradients and to find wrong ones. They stand in `patients`."""

from __future__ import annotations

from functools import partial

import numpy as np

from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Aspect, Case, Observation, Trial
from lessons.lesson_09.patients import function, start

SOUND = main("right gradients pass", 1.5, meaning="A right gradient has a relative error below 0.00001.", tag="sound")
BROKEN = main("wrong gradients are found", 4.5, meaning="A wrong gradient has a large relative error.", tag="broken")
ONE_ENTRY = special("a single wrong entry", weight=4.5, meaning="A gradient that is wrong in one entry is found out.")
AXES = special(
    "arrays with two axes", weight=0.5, meaning="Each entry is looked at by itself, however many axes x has."
)
SIZE = special(
    "numbers of any size", weight=0.5, meaning="Errors are judged beside the size of the gradient, tiny or huge."
)
ZERO = special(
    "entries without a say", weight=0.5, meaning="An entry that changes nothing has the gradient 0, and no NaN."
)
CURVED = special("curved functions", weight=0.5, meaning="A right gradient passes even where the slope changes fast.")
FUNCTIONS: dict[str, tuple[Aspect, str]] = {
    "squares": (SOUND, "with a right gradient: of a sum of squares"),
    "sines": (SOUND, "with a right gradient: of a sum of sines"),
    "softmax": (SOUND, "with a right gradient: of a softmax"),
    "unused": (ZERO, "with a right gradient that is 0 where an entry has no say"),
    "tiny": (SOUND, "with a right gradient whose numbers are tiny"),
    "huge": (SIZE, "with a right gradient whose numbers are huge"),
    "shallow": (CURVED, "with a right gradient close to the bottom of a valley, where slopes change fast"),
    "twice": (BROKEN, "with a gradient twice too large"),
    "negated": (BROKEN, "with a gradient whose signs are turned round"),
    "no jacobian": (BROKEN, "with a softmax's gradient without its Jacobian"),
    "zero": (BROKEN, "with a gradient of nothing but zeros"),
    "first": (ONE_ENTRY, "with a gradient wrong in its first entry only"),
    "last": (ONE_ENTRY, "with a gradient wrong in its last entry only"),
    "cancelling down": (BROKEN, "with a gradient whose two errors, one below the other, add up to 0"),
    "cancelling along": (AXES, "with a gradient whose two errors, side by side in a row, add up to 0"),
    "tiny and wrong": (SIZE, "with a wrong gradient whose numbers are tiny"),
    "flat": (ZERO, "with a gradient that isn't 0 where an entry has no say"),
}
MATRICES = ("softmax", "no jacobian", "unused", "flat", "cancelling down", "cancelling along")


def cases(generator: np.random.Generator) -> list[Case]:
    drawn = []
    for name, (aspect, label) in FUNCTIONS.items():
        shape = (2, 3) if name in MATRICES else (6, 5) if name in ("first", "last") else (4,)
        numbers = tuple(float(n) for n in generator.uniform(0.8, 1.6, int(np.prod(shape))))
        x = start(np.array(numbers).reshape(shape))
        drawn.append(Case(label, {"x": x}, aspect.tags, partial(function, name, numbers, shape)))
    return drawn


def in_words(observation: Observation, case: Case) -> Observation:
    """How large the error is: definitions of a relative error differ a little, and none of that matters here."""
    if "error" in observation:
        return observation
    error = observation.get("output")
    if isinstance(error, int | float) and not isinstance(error, bool) and np.isfinite(error) and error >= 0:
        words = "small" if error < 1e-5 else "large" if error > 1e-2 else f"neither small nor large: {error:.1g}"
        return {**observation, "output": words}
    if isinstance(error, float):
        return {**observation, "output": f"no size: {error}"}
    return observation


TRIAL = Trial(
    module="course.numpy_transformer.functions",
    points=3,
    cases=cases,
    canonical=in_words,
    called={"output": "how large the error is"},
    aspects=(
        SOUND,
        BROKEN,
        ONE_ENTRY,
        AXES,
        SIZE,
        ZERO,
        CURVED,
        untouched("x untouched", 0.5, "After the check, x is as it was before."),
    ),
)
