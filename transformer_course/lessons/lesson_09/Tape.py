"""`Tape`: how it is tried. The steps of a case are written down as data, and the probe records them one by one."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import KNOWN, also, main, special
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_09.drawing import Inputs, normal
from transformer_course.lessons.watching import AS_ASKED

Step = tuple[str, list[int]]
"""An operation, and where its inputs stand: first the arrays of the case, then what earlier steps returned."""

SHARED = special("an array in several steps", weight=4.0, meaning="An array that went into several steps gets the sum.")
TWICE = special(
    "an array twice in one step", weight=2.0, meaning="An array that went into one step twice gets both gradients."
)
BRANCHES = special(
    "branches of different lengths",
    weight=3.0,
    meaning="A step is asked when everything that its output went into has been asked.",
)
UNREACHED = special(
    "arrays without a way to the output", weight=1.0, meaning="Where nothing leads to the output, the gradient is 0."
)
MIDDLE = special(
    "an output from the middle", weight=1.5, meaning="`output` may come out of any step, not only the last one."
)
AGAIN = special(
    "asked again",
    weight=1.5,
    meaning="A second call gives its own gradients, whatever the first one was asked.",
    keys=("output", "again"),
)
ALIKE = special(
    "equal numbers", weight=0.5, meaning="Two arrays that hold the same numbers are still two different arrays."
)
LONG = special("thousands of steps", weight=0.5, meaning="A tape with thousands of steps works like a short one.")


def _add(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a + b, lambda g: [g, g]


def _multiply(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a * b, lambda g: [g * b, g * a]


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a @ b, lambda g: [g @ b.mT, a.mT @ g]


def _sine(a: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return np.sin(a), lambda g: [g * np.cos(a)]


def _third(a: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a / 3, lambda g: [g / 3]


def _shift(a: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a + 1, lambda g: [g]


def _three(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]:
    return a * b + c, lambda g: [g * b, g * a, g]


STEPS: Mapping[str, Callable[..., tuple[np.ndarray, Callable[[np.ndarray], list[np.ndarray]]]]] = {
    "add": _add,
    "multiply": _multiply,
    "product": _product,
    "sine": _sine,
    "third": _third,
    "shift": _shift,
    "three": _three,
}


def cases(generator: np.random.Generator) -> list[Case]:
    n, m, d = dims(generator, 3, 2, 5)

    def square(number: int = 2) -> list[np.ndarray]:
        return [normal(generator, n, n) for _ in range(number)]

    def draw(arrays: list[np.ndarray], steps: list[Step], wanted: list[int], *asked: int) -> Inputs:
        """What is asked for comes out of the last step unless `asked` says otherwise, once for each call."""
        places = list(asked) or [len(arrays) + len(steps) - 1]
        shapes = _shapes(arrays, steps)
        return {
            "arrays": arrays,
            "steps": [[name, places] for name, places in steps],
            "wanted": wanted,
            "asked": places,
            "gradients": [normal(generator, *shapes[place]) for place in places],
        }

    layer = [normal(generator, m, d), normal(generator, d, n), normal(generator, n, m)]
    twin = normal(generator, n, n)
    chain: list[Step] = [("sine", [0])] + [("sine", [place]) for place in range(1, 5)]
    doubling: list[Step] = [("add", [place, place]) for place in range(9)]
    return [
        Case.of("on a chain of steps", **draw(square(1), chain, [0])),
        Case.of(
            "on two products, one after the other", **draw(layer, [("product", [0, 1]), ("product", [3, 2])], [2, 0, 1])
        ),
        Case.of("on a step with three inputs", **draw(square(3), [("three", [0, 1, 2]), ("sine", [3])], [1, 0, 2])),
        Case.of(
            "where an array went into two steps",
            SHARED,
            **draw(square(2), [("multiply", [0, 1]), ("sine", [0]), ("multiply", [2, 3])], [0, 1]),
        ),
        Case.of(
            "where an array went into three steps",
            SHARED,
            **draw(square(1), [("sine", [0]), ("add", [1, 0]), ("multiply", [2, 0])], [0]),
        ),
        Case.of(
            "where the results in between are wanted, too",
            SHARED,
            **draw(square(1), [("sine", [0]), ("add", [1, 0]), ("third", [2])], [1, 0, 2]),
        ),
        Case.of("where an array went into one step twice", TWICE, **draw(square(1), [("multiply", [0, 0])], [0])),
        Case.of("where a matrix is multiplied by itself", TWICE, **draw(square(1), [("product", [0, 0])], [0])),
        Case.of("where a result is doubled again and again", TWICE, **draw(square(1), doubling, [0])),
        Case.of(
            "where a long branch and a short one meet",
            BRANCHES,
            **draw(
                square(2),
                [("multiply", [0, 1]), ("sine", [2]), ("third", [3]), ("multiply", [2, 4]), ("add", [5, 2])],
                [0, 1, 2],
            ),
        ),
        Case.of(
            "where one of the arrays has no part in the output",
            UNREACHED,
            **draw([*square(2), normal(generator, m, d)], [("multiply", [0, 1]), ("sine", [2])], [2, 1, 0]),
        ),
        Case.of(
            "where the output comes out of a step in the middle",
            MIDDLE,
            **draw(square(2), [("multiply", [0, 1]), ("sine", [2]), ("multiply", [3, 0]), ("sine", [4])], [0, 1], 3),
        ),
        Case.of(
            "where the output itself is wanted, too",
            MIDDLE,
            **draw(square(2), [("multiply", [0, 1]), ("sine", [2]), ("multiply", [3, 0])], [3, 0, 2], 3),
        ),
        Case.of(
            "when the tape is asked a second time",
            AGAIN,
            **draw(square(2), [("multiply", [0, 1]), ("sine", [2]), ("multiply", [3, 1])], [0, 1], 4, 3),
        ),
        Case.of(
            "when the tape is asked about a later step the second time",
            AGAIN,
            **draw(square(2), [("multiply", [0, 1]), ("sine", [2]), ("multiply", [3, 1])], [0, 1], 3, 4),
        ),
        Case.of(
            "with two arrays that hold the same numbers",
            ALIKE,
            **draw([twin, twin.copy()], [("sine", [0]), ("third", [1]), ("multiply", [2, 3])], [0, 1]),
        ),
        Case.of(
            "with two results that hold the same numbers",
            ALIKE,
            **draw([twin, twin.copy()], [("sine", [0]), ("sine", [1]), ("product", [2, 3])], [0, 1]),
        ),
        Case.of(
            "on 1,200 steps",
            LONG,
            **draw([normal(generator, 2)], [("shift", [place]) for place in range(1200)], [0]),
        ),
    ]


def _shapes(arrays: Sequence[np.ndarray], steps: Sequence[Step]) -> list[tuple[int, ...]]:
    known = list(arrays)
    for name, places in steps:
        known.append(STEPS[name](*(known[place] for place in places))[0])
    return [array.shape for array in known]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Records the steps on a new tape, and asks it for gradients, once or twice; another tape has other steps."""
    tape, other = symbol(), symbol()
    came_in: dict[int, Any] = {}
    known, counts = list(inputs["arrays"]), [0] * len(inputs["steps"])
    returned, numbers = "its output", [array.tobytes() for array in known]
    for number, (name, places) in enumerate(inputs["steps"]):
        result, back = STEPS[name](*(known[place] for place in places))

        def counted(gradient: np.ndarray, number: int = number, back: Any = back) -> list[np.ndarray]:
            counts[number] += 1
            came_in.setdefault(number, gradient.copy() if isinstance(gradient, np.ndarray) else gradient)
            gradients: list[np.ndarray] = back(gradient)
            return gradients

        came = tape.record([known[place] for place in places], result, counted)
        other.record([known[place] for place in places], result, back)
        if came is not result:
            returned = "nothing" if came is None else "something else"
        known.append(result)
        numbers.append(result.tobytes())
    words = dict.fromkeys(("begins", "way"), AS_ASKED)
    asked_for, answers = [gradient.copy() for gradient in inputs["gradients"]], []
    wanted = [known[place] for place in inputs["wanted"]]
    most = 0
    for place, gradient in zip(inputs["asked"], asked_for, strict=True):
        counts[:] = [0] * len(counts)
        answer = tape.gradients(known[place], gradient, wanted)
        answers.append(_copied(answer))
        if len(answers) == 1:
            words = _words(inputs, counts, came_in, answer)
        most = max(most, *counts)
    same = [array.tobytes() for array in known] == numbers and all(
        np.array_equal(one, before) for one, before in zip(asked_for, inputs["gradients"], strict=True)
    )
    return {
        **words,
        "output": answers[0],
        **({"again": answers[1]} if len(answers) > 1 else {}),
        "returned": returned,
        "asked": "at most once" if most <= 1 else "several times",
        "kept": "yes" if _is_kept(symbol()) else "no",
        "written": "no" if same else "yes",
    }


def _words(inputs: Mapping[str, Any], counts: Sequence[int], came_in: Mapping[int, Any], answer: Any) -> dict[str, str]:
    """Which steps a tape has asked of those that lead to the output, and with what it has begun."""
    first = len(inputs["arrays"])
    last, leading = inputs["asked"][0] - first, set[int]()
    waiting = [last]
    while waiting:
        step = waiting.pop()
        if step in leading:
            continue
        leading.add(step)
        waiting += [place - first for place in inputs["steps"][step][1] if place >= first]
    begins = way = AS_ASKED
    if last in came_in and not np.array_equal(came_in[last], inputs["gradients"][0]):
        begins = (
            "The step that made the output is asked with another gradient than the one that was passed in. What does "
            "your loop begin with?"
        )
    missing = sorted(step for step in leading if not counts[step])
    if len(missing) == len(leading):
        way = "Your tape asks none of the steps that lead to the output. How does it find the one that made it?"
    elif len(missing) == len(leading) - 1 and counts[last] and len(leading) > 2:
        way = (
            f"Of {len(leading)} steps that lead to the output, your tape asks the last one only. Does it keep the very "
            "arrays that went in, and in which order does it go through the steps?"
        )
    elif missing:
        way = (
            f"Of {len(leading)} steps that lead to the output, your tape never asks "
            f"{'the first' if missing == [min(leading)] else f'{len(missing)}'}. Which of them does your loop reach?"
        )
    elif isinstance(answer, list | tuple) and len(answer) == len(inputs["wanted"]):
        way = _lost(inputs, leading, answer)
    return {"begins": begins, "way": way}


def _lost(inputs: Mapping[str, Any], leading: set[int], answer: Sequence[Any]) -> str:
    """Of arrays that get nothing although every step has been asked: where they stood among a step's inputs."""
    stood = {
        wanted: {at for step in leading for at, place in enumerate(inputs["steps"][step][1]) if place == wanted}
        for wanted in inputs["wanted"]
    }
    empty = [
        w for w, one in zip(inputs["wanted"], answer, strict=True) if isinstance(one, np.ndarray) and not one.any()
    ]
    if empty and all(stood[wanted] and 0 not in stood[wanted] for wanted in empty):
        return (
            "An array that went into a step as its second or third input gets a gradient of zeros. How many gradients "
            "does a step send back?"
        )
    return AS_ASKED


def _copied(answer: Any) -> Any:
    """What a second call might write into, if it isn't copied."""
    if isinstance(answer, list | tuple):
        return [one.copy() if isinstance(one, np.ndarray) else one for one in answer]
    return answer


def _is_kept(tape: Any) -> bool:
    """Whether an array that nobody else holds lives on, so that no new one can be taken for it."""
    passing = np.ones(3)
    watched = weakref.ref(passing)
    tape.record([np.zeros(3)], passing, lambda gradient: [gradient])
    del passing
    return watched() is not None


TRIAL = Trial(
    module="transformer_course.numpy_transformer.tape",
    points=3,
    cases=cases,
    probe=probe,
    shown=lambda case: {},
    called={
        "begins": "what the loop begins with",
        "way": "the steps that are asked",
        "output": "what gradients returns",
        "again": "what a second call returns",
        "returned": "what record returns",
        "asked": "how often a step is asked",
        "kept": "whether the tape keeps the arrays",
        "written": "whether an array is written into",
    },
    aspects=(
        main(
            "steps one after the other",
            2.0,
            ("begins", "way", "output"),
            meaning="The gradients come back through a chain of steps.",
        ),
        SHARED,
        TWICE,
        BRANCHES,
        UNREACHED,
        MIDDLE,
        AGAIN,
        ALIKE,
        LONG,
        also("each step asked once", "asked", weight=1.5, meaning="In one call, no step is asked more than once."),
        also("record returns the output", "returned", weight=1.0, meaning="`record` returns the very array it got."),
        also("the arrays are kept", "kept", weight=0.5, meaning="The tape holds on to the arrays that it has met."),
        Aspect(
            "nothing written into",
            ("written",),
            KNOWN,
            1.5,
            meaning="The arrays and the gradient that comes in are afterwards as they were before.",
        ),
    ),
)
