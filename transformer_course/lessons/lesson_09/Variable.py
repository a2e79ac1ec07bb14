"""`Variable`: how it is tried. A formula is named by its case, and the probe follows what it recorded, path by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import CONTENT, also, main, special
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_09.drawing import Inputs, normal

BACK = ("back",)
FORMULAS: Mapping[str, Callable[..., Any]] = {
    "product": lambda a, b: a * b,
    "square": lambda a: a * a,
    "number": lambda a: 2.5 * a,
    "matrices": lambda a, b: a @ b,
    "squared matrix": lambda a: a @ a,
    "cube": lambda a: a**3,
    "inverse root": lambda a: a**-0.5,
    "exp": lambda a: a.exp(),
    "sum": lambda a: a.sum(),
    "swapped": lambda a: a.mT,
    "quotient": lambda a, b: a / b - b,
    "softmax": lambda a: (e := a.exp()) / e.sum(),
    "attention": lambda q, k, v: (e := (q @ k.mT * 0.5).exp()) / e.sum() @ v,
    "norm": lambda x, w, b: (c := x - x.sum() / x.array.shape[-1]) / (((c * c).sum() + 0.1) ** 0.5) * w + b,
}


def of(name: str, weight: float = 1.0, meaning: str = "") -> Aspect:
    """What comes back through one operation."""
    return special(name, weight=weight, meaning=meaning, keys=BACK)


PRODUCT = of("back through *", 1.5, "Each factor gets the gradient times the other factor.")
MATRICES = of("back through @", 2.0, "Each matrix gets the gradient times the other matrix, the right way round.")
POWER = of("back through **", 1.5, "The gradient goes back through a power.")
EXPONENTIAL = of("back through exp", 1.5, "The gradient goes back through an exponential.")
SUM = of("back through sum", 1.5, "Each entry of a row gets the gradient of its sum.")
SWAPPED = of("back through mT", 1.0, "The gradient is swapped as the matrix was.")
STRETCHED = special(
    "broadcasting undone",
    weight=2.0,
    meaning="An array that was stretched gets a gradient of its own shape.",
    keys=("output", "back"),
)
FRONT = special(
    "batches of matrices",
    weight=1.0,
    meaning="A matrix that served a whole batch gathers from all of it.",
    keys=("output", "back"),
)
WHOLE = special(
    "whole formulas", weight=2.0, meaning="Softmax, attention and LayerNorm come out right.", keys=("output", "back")
)
FLOAT32 = special("float32", weight=0.5, keys=("output", "back"))


def cases(generator: np.random.Generator) -> list[Case]:
    n, m, d, e = dims(generator, 4, 2, 5)

    def draw(formula: str, *shapes: Sequence[int], kind: Any = np.float64, positive: bool = False) -> Inputs:
        arrays = [normal(generator, *shape) for shape in shapes]
        arrays = [(np.abs(array) + 0.5 if positive else array).astype(kind) for array in arrays]
        return {"formula": formula, "arrays": arrays, "seed": int(generator.integers(2**31))}

    return [
        Case.of("on a * b", "usual", PRODUCT, **draw("product", (n, m), (n, m))),
        Case.of("on a * a", "usual", PRODUCT, **draw("square", (m, n))),
        Case.of("on 2.5 * a", "usual", PRODUCT, **draw("number", (m, n))),
        Case.of("on a @ b", "usual", MATRICES, **draw("matrices", (n, m), (m, d))),
        Case.of("on a @ a", "usual", MATRICES, **draw("squared matrix", (n, n))),
        Case.of("on a ** 3", "usual", POWER, **draw("cube", (n, m))),
        Case.of("on a ** -0.5", "usual", POWER, **draw("inverse root", (m, n), positive=True)),
        Case.of("on a.exp()", "usual", EXPONENTIAL, **draw("exp", (n, m))),
        Case.of("on a.sum()", "usual", SUM, **draw("sum", (n, m))),
        Case.of("on a.sum() of a square matrix", "usual", SUM, **draw("sum", (n, n))),
        Case.of("on a.mT", "usual", SWAPPED, **draw("swapped", (n, m))),
        Case.of("on a.mT with a batch axis", "usual", SWAPPED, **draw("swapped", (e, n, m))),
        Case.of("on a * b, where b is a single row", STRETCHED, **draw("product", (n, m), (m,))),
        Case.of("on a * b, where a is a column", STRETCHED, **draw("product", (n, 1), (n, m))),
        Case.of("on a * b, where both are stretched", STRETCHED, **draw("product", (d, 1, m), (n, 1))),
        Case.of("on a @ b with a batch axis on both", FRONT, **draw("matrices", (e, n, m), (e, m, d))),
        Case.of("on a @ b, where b has no batch axis", FRONT, **draw("matrices", (e, n, m), (m, d))),
        Case.of("on a @ b, where a has no batch axis", FRONT, **draw("matrices", (n, m), (e, m, d))),
        Case.of("on a / b - b", WHOLE, **draw("quotient", (n, m), (n, m), positive=True)),
        Case.of("on a softmax", WHOLE, **draw("softmax", (n, m))),
        Case.of("on attention", WHOLE, **draw("attention", (2, n, d), (2, m, d), (2, m, e))),
        Case.of("on a LayerNorm", WHOLE, **draw("norm", (n, d), (d,), (d,))),
        Case.of("with float32", FLOAT32, **draw("softmax", (n, m), kind=np.float32)),
        Case.of("on powers in float32", FLOAT32, **draw("inverse root", (n, m), kind=np.float32, positive=True)),
        Case.of("on 2.5 * a in float32", FLOAT32, **draw("number", (n, m), kind=np.float32)),
    ]


class _Notes:
    """Stands for a tape: notes the steps down."""

    def __init__(self) -> None:
        self.steps: list[tuple[list[Any], Any, Any]] = []

    def record(self, inputs: Any, output: Any, backward: Any) -> Any:
        self.steps.append((list(inputs), output, backward))
        return output


def _all_paths(notes: _Notes, array: Any, gradient: Any, wanted: Sequence[Any]) -> list[Any]:
    """What each path brings to the wanted arrays, added up. Formulas are short, so there are few paths."""
    arrived = [gradient if array is one else None for one in wanted]
    for inputs, output, backward in notes.steps:
        if output is not array:
            continue
        came = backward(gradient)
        if not isinstance(came, list | tuple) or len(came) != len(inputs):
            raise ValueError(f"a step with {len(inputs)} inputs should send back a list of {len(inputs)} gradients")
        for each, more in zip(inputs, came, strict=True):
            for place, one in enumerate(_all_paths(notes, each, more, wanted)):
                if one is not None:
                    arrived[place] = one if arrived[place] is None else arrived[place] + one
    return arrived


def _stretched(array: np.ndarray, like: np.ndarray) -> bool:
    """Whether broadcasting makes an array of another's shape."""
    try:
        return np.broadcast_shapes(array.shape, like.shape) == like.shape
    except ValueError:
        return False


_COPIES = (
    "A step is recorded with a copy of its array, and a tape tells arrays apart by what they are. Which array does the "
    "variable itself hold?"
)


def _is_a_copy(each: Any, known: Sequence[Any]) -> bool:
    """Whether an array isn't one of these, but holds the numbers of one."""
    return not any(each is one for one in known) and any(
        isinstance(one, np.ndarray) and one.size > 1 and np.array_equal(each, one) for one in known
    )


_SLOPES: Mapping[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "number": ("2.5 * a", lambda a: np.full_like(a, 2.5)),
    "cube": ("a ** 3", lambda a: 3 * a**2),
    "inverse root": ("a ** -0.5", lambda a: -0.5 * a**-1.5),
    "exp": ("a.exp()", np.exp),
}


def _in_words(formula: str, came: list[Any], gradient: np.ndarray, arrays: Sequence[np.ndarray]) -> list[Any]:
    """What comes back through a single operation, in words where it is something else than it should be."""
    shapes = [one.shape if isinstance(one, np.ndarray) and one.dtype.kind == "f" else None for one in came]
    if shapes != [array.shape for array in arrays] or arrays[0].dtype != np.float64:
        return came
    a = arrays[0]
    if formula in _SLOPES:
        name, slope = _SLOPES[formula]
        if np.allclose(came[0], gradient * slope(a)):
            return came
        if np.allclose(came[0], slope(a)):
            return [f"Behind {name}, the slope comes back alone, whatever gradient came in. What are they together?"]
        place = int(np.abs(came[0] - gradient * slope(a)).argmax())
        factor = float(came[0].flat[place] / gradient.flat[place])
        return [
            f"Behind {name}, where a is {a.flat[place]:.3g}, the gradient comes back {factor:.3g} times as large. How "
            f"steep is {name} there?"
        ]
    if formula == "square" and np.allclose(came[0], gradient * a):
        return ["Behind a * a, the gradient comes back through one of the two factors only. Which arrays went in?"]
    if formula == "squared matrix":
        left, right = gradient @ a.mT, a.mT @ gradient
        for half in (left, right):
            if np.allclose(came[0], half):
                return [
                    "Behind a @ a, the gradient comes back through one of the two factors only. Which arrays went in?"
                ]
        for half, name in ((gradient @ a + right, "first"), (left + a @ gradient, "second")):
            if np.allclose(came[0], half):
                return [
                    f"Behind a @ a, the gradient of the {name} factor meets the other one as it is. Which way round "
                    "does a matrix lie on the way back?"
                ]
    return came


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Works the formula out on variables, and follows it back."""
    notes = _Notes()
    arrays = [array.copy() for array in inputs["arrays"]]
    variables = [symbol(array, notes) for array in arrays]
    if not all(hasattr(variable, "array") for variable in variables):
        return {"output": "nothing that holds an array", "kind": "no variable", "back": None, "arguments": arrays}
    result = FORMULAS[inputs["formula"]](*variables)
    if result is NotImplemented or not hasattr(result, "array"):
        return {"output": result, "kind": "no variable", "back": None, "arguments": arrays}
    seen = {"output": result.array, "kind": "a variable on the same tape", "arguments": arrays}
    recorded = [each for step in notes.steps for each in step[0]]
    seen["recorded"] = "arrays" if recorded else "nothing"
    if any(hasattr(each, "array") for each in recorded):
        seen["recorded"] = "variables"
    if getattr(result, "tape", None) is not notes:
        seen["kind"] = "a variable on another tape"
    if not isinstance(result.array, np.ndarray):
        return {**seen, "back": None}
    shape: tuple[int, ...] = result.array.shape
    gradient = np.asarray(np.random.default_rng(inputs["seed"]).standard_normal(shape), dtype=result.array.dtype)
    before = gradient.copy()
    gradients = _all_paths(notes, result.array, gradient, arrays)
    for place, (came, array) in enumerate(zip(gradients, arrays, strict=True)):
        if isinstance(came, np.ndarray) and came.shape != array.shape and _stretched(array, came):
            gradients[place] = (
                f"An array of the shape {array.shape} was stretched, and its gradient comes back with the shape "
                f"{came.shape}. Which function adds up what the copies got?"
            )
    gradients = _in_words(inputs["formula"], gradients, before, arrays)
    if any(_is_a_copy(each, [*arrays, *(step[1] for step in notes.steps)]) for each in recorded):
        gradients = [_COPIES] * len(arrays)
    nowhere = "no gradient: the steps that were recorded don't lead back to it"
    return {
        **seen,
        "back": [nowhere if one is None else one for one in gradients],
        "arguments": [*arrays, *([] if np.array_equal(gradient, before) else ["the gradient has changed"])],
    }


TRIAL = Trial(
    module="transformer_course.numpy_transformer.tape",
    points=3,
    cases=cases,
    probe=probe,
    shown=lambda case: {},
    called={
        "output": "the array",
        "back": "the gradients that come back",
        "kind": "what an operation returns",
        "recorded": "what is recorded as a step's inputs",
    },
    aspects=(
        main("forward", 2.0, meaning="Each operation works out the right array."),
        PRODUCT,
        MATRICES,
        POWER,
        EXPONENTIAL,
        SUM,
        SWAPPED,
        STRETCHED,
        FRONT,
        WHOLE,
        FLOAT32,
        also(
            "recorded on the same tape",
            "kind",
            "recorded",
            weight=1.0,
            meaning="An operation records the arrays that went in, and returns a Variable on the same tape.",
        ),
        Aspect(
            "dtype kept",
            ("output", "back"),
            frozenset({"dtype"}),
            0.5,
            meaning="float32 stays float32, forward and backward.",
        ),
        Aspect(
            "arrays untouched",
            ("arguments",),
            CONTENT - {"error"},
            0.5,
            meaning="The arrays, and the gradients that come in, are afterwards as they were before.",
        ),
    ),
)
