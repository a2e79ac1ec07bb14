"""`gradient_check`, the clinic: it has to believe right gradients and to find wrong ones. They stand in `patients`."""

from __future__ import annotations

from functools import partial

import numpy as np

from cellcheck.authoring.aspects import KNOWN, main, special
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_09.patients import FINE, function, start

ERROR = ("points", "error_found")


def of(name: str, weight: float, meaning: str, tag: str = "") -> Aspect:
    return special(name, tag, weight, meaning, ERROR)


SOUND = main("right gradients pass", 3.0, ERROR, "A right gradient has a relative error below 0.00001.", "sound")
BROKEN = main("wrong gradients are found", 5.0, ERROR, "A wrong gradient has a large relative error.", "broken")
ONE_ENTRY = of("a single wrong entry", 6.0, "A gradient that is wrong in one entry is found out.")
SIZE = of("gradients of any size", 4.0, "An error counts beside the size of its own entry, tiny or huge.")
ZERO = of("slopes of zero", 1.0, "An entry that changes nothing has the gradient 0, and no NaN.")
NOISE = of("the noise of rounding", 2.0, "Where nothing changes, the last digit of the value is no error.")
CURVED = of("curved functions", 1.5, "A right gradient passes even where slopes change fast.")
AXES = of("arrays with two axes", 1.0, "Each entry is looked at by itself, however many axes x has.")
FUNCTIONS: dict[str, tuple[Aspect, str]] = {
    "squares": (SOUND, "with a right gradient: of a sum of squares"),
    "sines": (SOUND, "with a right gradient: of a sum of sines"),
    "tiny": (SOUND, "with a right gradient whose numbers are tiny"),
    "huge": (SIZE, "with a right gradient whose numbers are huge"),
    "unused": (ZERO, "with a right gradient that is 0 where an entry has no effect"),
    "rounded": (NOISE, "with a right gradient of zeros, where only the value's last digit flickers"),
    "softmax": (CURVED, "with a right gradient: of a softmax"),
    "exponentials": (CURVED, "with a right gradient: of a sum of exponentials"),
    "shallow": (CURVED, "with a right gradient close to the bottom of a valley, where slopes change fast"),
    "twice": (BROKEN, "with a gradient twice too large"),
    "negated": (BROKEN, "with a gradient whose signs are turned round"),
    "no jacobian": (BROKEN, "with a softmax's gradient without its Jacobian"),
    "zero": (BROKEN, "with a gradient of nothing but zeros"),
    "first": (ONE_ENTRY, "with a gradient wrong in its first entry only"),
    "last": (ONE_ENTRY, "with a gradient wrong in its last entry only"),
    "unequal": (SIZE, "with a gradient that is right in a steep entry and wrong in flat ones"),
    "tiny and wrong": (SIZE, "with a wrong gradient whose numbers are tiny"),
    "cancelling down": (BROKEN, "with a gradient whose two errors, one below the other, add up to 0"),
    "cancelling along": (AXES, "with a gradient whose two errors, side by side in a row, add up to 0"),
    "flat": (ZERO, "with a gradient that isn't 0 where an entry has no effect"),
    "hardly": (ONE_ENTRY, "with a gradient of which one entry is off by a hundredth of a percent"),
}
OPPOSED = tuple(FUNCTIONS[name][1] for name in ("negated", "zero", "flat"))
"""Where a claim is as wrong as it can be: who divides by the wrong size divides by almost nothing there."""
_ONE_ENTRY = (
    "In an x of several rows, the claim for its {name} entry is wrong, and your error stays below 0.00001. Does your "
    "loop reach every entry, and does the largest error win?"
)
OVERLOOKED = {
    FUNCTIONS["first"][1]: _ONE_ENTRY.format(name="first"),
    FUNCTIONS["last"][1]: _ONE_ENTRY.format(name="last"),
    FUNCTIONS["twice"][1]: "Every claim is twice too large, and your error stays below 0.00001. Is a claim that is too "
    "large less wrong than one that is too small?",
}
"""What is said of an error that stays small where it mustn't."""
MATRICES = ("softmax", "no jacobian", "unused", "flat", "cancelling down", "cancelling along")


def cases(generator: np.random.Generator) -> list[Case]:
    drawn = []
    for name, (aspect, label) in FUNCTIONS.items():
        shape = (2, 3) if name in MATRICES else (6, 5) if name in ("first", "last") else (4,)
        numbers = tuple(float(n) for n in generator.uniform(0.8, 1.6, int(np.prod(shape))))
        x = start(np.array(numbers).reshape(shape))
        drawn.append(Case(label, {"x": x}, aspect.tags, partial(function, name, numbers, shape)))
    return drawn


def kind_of(answer: object) -> str:
    """What came back instead of a size."""
    if isinstance(answer, float):
        return "NaN" if np.isnan(answer) else "infinite" if answer > 0 else "a negative number"
    return str(answer) if isinstance(answer, bool) or answer is None else "no number"


def in_words(observation: Observation, case: Case) -> Observation:
    """How large the error is: definitions of a relative error differ a little, and none of that matters here."""
    if "error" in observation:
        return observation
    error = observation["output"]
    words = kind_of(error)
    if isinstance(error, int | float) and not isinstance(error, bool) and -1e-5 < error < np.inf:
        words = FINE if error < 1e-5 else "0.01 or more" if error > 1e-2 else "between 0.00001 and 0.01"
        if case.label == FUNCTIONS["twice"][1] and error > 0.9:  # a third for each entry, or half by another formula
            words = "more than for any entry" if error > 1.2 else "as large as the slope itself"
        if words == FINE and case.label in OVERLOOKED:
            words = OVERLOOKED[case.label]
        if case.label == FUNCTIONS["rounded"][1] and words != FINE:
            words = "more than rounding"
        if case.label in OPPOSED and error > 1000:  # at most 1 for each entry, or 2 by another formula
            words = "a thousand or more"
    # There are many good places to ask at: they only tell what makes a right gradient look wrong.
    suspect = case.label.startswith("with a right gradient") and words != FINE
    return {
        "points": observation["asked_at"] if suspect else FINE,
        "error_found": words,
        "left": observation["left"],
    }


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=3,
    cases=cases,
    canonical=in_words,
    called={"error_found": "the error that you return", "points": "where you ask f", "left": "x after the check"},
    aspects=(
        SOUND,
        BROKEN,
        ONE_ENTRY,
        SIZE,
        NOISE,
        CURVED,
        ZERO,
        AXES,
        Aspect("x untouched", ("left",), KNOWN, 1.5, meaning="After the check, x is as it was before."),
    ),
)
