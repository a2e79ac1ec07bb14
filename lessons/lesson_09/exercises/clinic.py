"""`gradient_check`, the clinic: it has to believe right gradients and to find wrong ones. They stand in `patients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course.numpy_transformer.functions import gradient_check
from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake, Observation
from lessons.lesson_09.exercises.patients import function, start

F = Callable[[np.ndarray], tuple[float, np.ndarray]]

_FUNCTIONS = {
    "squares": ("sound", "with a right gradient: of a sum of squares"),
    "sines": ("sound", "with a right gradient: of a sum of sines"),
    "softmax": ("sound", "with a right gradient: of a softmax"),
    "unused": ("zero", "with a right gradient that is 0 where an entry has no say"),
    "tiny": ("sound", "with a right gradient whose numbers are tiny"),
    "huge": ("size", "with a right gradient whose numbers are huge"),
    "shallow": ("curved", "with a right gradient close to the bottom of a valley, where slopes change fast"),
    "twice": ("broken", "with a gradient twice too large"),
    "negated": ("broken", "with a gradient whose signs are turned round"),
    "no jacobian": ("broken", "with a softmax's gradient without its Jacobian"),
    "zero": ("broken", "with a gradient of nothing but zeros"),
    "first": ("one entry", "with a gradient wrong in its first entry only"),
    "last": ("one entry", "with a gradient wrong in its last entry only"),
    "cancelling down": ("broken", "with a gradient whose two errors, one below the other, add up to 0"),
    "cancelling along": ("axes", "with a gradient whose two errors, side by side in a row, add up to 0"),
    "tiny and wrong": ("size", "with a wrong gradient whose numbers are tiny"),
    "flat": ("zero", "with a gradient that isn't 0 where an entry has no say"),
}


def _cases(generator: np.random.Generator) -> list[Case]:
    cases = []
    for name, (tag, label) in _FUNCTIONS.items():
        matrices = "softmax", "no jacobian", "unused", "flat", "cancelling down", "cancelling along"
        shape = (2, 3) if name in matrices else (6, 5) if name in ("first", "last") else (4,)
        numbers = tuple(float(n) for n in generator.uniform(0.8, 1.6, int(np.prod(shape))))
        x = start(np.array(numbers).reshape(shape))
        cases.append(Case(label, {"x": x}, frozenset({tag}), partial(function, name, numbers, shape)))
    return cases


def _in_words(observation: Observation, case: Case) -> Observation:
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


def _slopes(f: F, x: np.ndarray, h: float = 1e-5, sides: tuple[int, int] = (1, -1)) -> np.ndarray:
    measured = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        values = []
        for side in sides:
            moved = x.copy()
            moved[place] += side * h
            values.append(f(moved)[0])
        measured[place] = (values[0] - values[1]) / ((sides[0] - sides[1]) * h)
    return measured


def _relative(measured: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(measured - claimed) / np.maximum(np.abs(measured) + np.abs(claimed), 1e-10))


def _answer(rule: Callable[[np.ndarray, np.ndarray], Any], **options: Any) -> Callable[[F, np.ndarray], Any]:
    def check(f: F, x: np.ndarray) -> Any:
        return rule(_slopes(f, x, **options), np.asarray(f(x)[1]))

    return check


def _all_at_once(f: F, x: np.ndarray) -> float:
    h = 1e-5
    measured = (f(x + h)[0] - f(x - h)[0]) / (2 * h)
    claimed = float(np.sum(f(x)[1]))
    return abs(measured - claimed) / max(abs(measured) + abs(claimed), 1e-4)


def _not_put_back(f: F, x: np.ndarray) -> float:
    claimed, h = np.array(f(x)[1]), 1e-3
    measured = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        above = x.copy()
        above[place] += h
        below = x.copy()
        below[place] -= h
        measured[place] = (f(above)[0] - f(below)[0]) / (2 * h)
        x[place] += h
    return float(_relative(measured, claimed).max())


def _first_axis(f: F, x: np.ndarray) -> float:
    claimed, h = np.asarray(f(x)[1]), 1e-5
    worst = 0.0
    for i in range(len(x)):
        above, below = x.copy(), x.copy()
        above[i] += h
        below[i] -= h
        measured = (f(above)[0] - f(below)[0]) / (2 * h)
        total = float(np.sum(claimed[i]))
        worst = max(worst, abs(measured - total) / max(abs(measured) + abs(total), 1e-4))
    return worst


def _zero_by_zero(measured: np.ndarray, claimed: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float((np.abs(measured - claimed) / (np.abs(measured) + np.abs(claimed))).max())


def _by_norms(measured: np.ndarray, claimed: np.ndarray) -> float:
    size = float(np.linalg.norm(measured) + np.linalg.norm(claimed))
    return float(np.linalg.norm(measured - claimed)) / size if size else 0.0


def _in_place(f: F, x: np.ndarray) -> float:
    claimed, h = np.array(f(x)[1]), 1e-5
    worst = 0.0
    for place in np.ndindex(x.shape):
        before = x[place]
        x[place] = before + h
        above = f(x)[0]
        x[place] = before - h
        below = f(x)[0]
        x[place] = before
        measured = (above - below) / (2 * h)
        other = float(claimed[place])
        worst = max(worst, abs(measured - other) / max(abs(measured), abs(other), 1e-9))
    return worst


def _flattened(f: F, x: np.ndarray) -> float:
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-4
    measured = np.array([(f(x + s)[0] - f(x - s)[0]) / 2e-4 for s in steps]).reshape(x.shape)
    return float(_relative(measured, np.asarray(f(x)[1])).max())


GRADIENT_CHECK = Exercise(
    symbol="gradient_check",
    points=3,
    cases=_cases,
    references=(gradient_check,),
    canonical=_in_words,
    called={"output": "how large the error is"},
    aspects=(
        main("right gradients pass", 1.5, meaning="A right gradient has a relative error below 0.00001.", tag="sound"),
        main("wrong gradients are found", 4.5, meaning="A wrong gradient has a large relative error.", tag="broken"),
        special("a single wrong entry", "one entry", 4.5, "A gradient that is wrong in one entry is found out."),
        special("arrays with two axes", "axes", 0.5, "Each entry is looked at by itself, however many axes x has."),
        special("numbers of any size", "size", 0.5, "Errors are judged beside the size of the gradient, tiny or huge."),
        special("entries without a say", "zero", 0.5, "An entry that changes nothing has the gradient 0, and no NaN."),
        special("curved functions", "curved", 0.5, "A right gradient passes even where the slope changes fast."),
        untouched("x untouched", 0.5, "After the check, x is as it was before."),
    ),
    mistakes=(
        Mistake(
            "absolute_error",
            _answer(lambda m, c: float(np.abs(m - c).max())),
            "You return the largest difference itself. Next to a slope of a million, 0.001 is nothing; next to a slope "
            "of 0.000001 it is everything. What do you compare it with?",
        ),
        Mistake(
            "one_sided",
            _answer(lambda m, c: float(_relative(m, c).max()), sides=(1, 0)),
            "You measure from x upwards only. Near the bottom of a valley, the slope changes on the way: where would "
            "a second point make up for that?",
        ),
        Mistake(
            "divided_by_h",
            _answer(lambda m, c: float(_relative(2 * m, c).max())),
            "Your measured slopes are twice too large. How far apart are the two points?",
            central=True,
        ),
        Mistake(
            "all_entries_at_once",
            _all_at_once,
            "You move all entries together and compare with the sum of the gradient. Can two errors cancel? How many "
            "entries should move at a time?",
            central=True,
        ),
        Mistake(
            "mean_error",
            _answer(lambda m, c: float(_relative(m, c).mean())),
            "One wrong entry drowns among the right ones. Which entry decides: the average one, or the worst?",
            central=True,
        ),
        Mistake(
            "first_axis_only",
            _first_axis,
            "Of an array with two axes you move whole rows at once. How do you go through all the entries of an array "
            "of any shape?",
        ),
        Mistake(
            "smallest_error",
            _answer(lambda m, c: float(_relative(m, c).min())),
            "You return the smallest error of all. One right entry, and everything looks right: which entry decides?",
            central=True,
        ),
        Mistake(
            "zero_divided_by_zero",
            _answer(_zero_by_zero),
            "Where both slopes are 0, you divide 0 by 0, and get NaN. What could keep the denominator above 0?",
        ),
        Mistake(
            "x_not_put_back",
            _not_put_back,
            "After your check, x isn't what it was, and later entries are measured in another place. What do you do "
            "with an entry after you have moved it?",
        ),
        Mistake(
            "signs_ignored",
            _answer(lambda m, c: float(_relative(np.abs(m), np.abs(c)).max())),
            "You compare sizes and leave out the signs. Which way would a step go, if every sign were turned round?",
            central=True,
        ),
        Mistake(
            "a_huge_step",
            _answer(lambda m, c: float(_relative(m, c).max()), h=0.5),
            "Your step is so large that it measures the function somewhere else. How small can h be?",
        ),
        Mistake(
            "a_step_below_rounding",
            _answer(lambda m, c: float(_relative(m, c).max()), h=1e-16),
            "Your step is so small that x + h is x. A float64 has about 16 digits: how many of them do you leave?",
            central=True,
        ),
        Mistake(
            "claims_trusted",
            _answer(lambda m, c: float(_relative(c, c).max())),
            "You compare the claimed gradient with itself. Where do the measured slopes come from?",
            central=True,
        ),
        Mistake(
            "yes_or_no",
            _answer(lambda m, c: bool(np.allclose(m, c, rtol=1e-4))),
            "You answer yes or no. What does the docstring ask for?",
            central=True,
        ),
    ),
    variants={
        "moved in place and put back": _in_place,
        "flattened": _flattened,
        "of norms": _answer(_by_norms),
        "with the larger of both": _answer(
            lambda m, c: float((np.abs(m - c) / np.maximum(np.maximum(np.abs(m), np.abs(c)), 1e-8)).max())
        ),
    },
)
