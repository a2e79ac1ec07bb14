"""`mse_loss`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.lesson_01.computed import numbers_in
from transformer_course.lessons.lesson_01.drawing import to_tensors
from transformer_course.lessons.lesson_01.graphs import GRAPH, behind
from transformer_course.lessons.lesson_01.networks import draw_batch_of_arrays as draw_batch
from transformer_course.lessons.lesson_01.single_number import ONE_NUMBER, one_number
from transformer_course.lessons.watching import AS_ASKED
from transformer_course.mlp_numpy import mlp_predict_numpy

# The classic trap: (n, 1) against (n,) broadcasts without a word.
ONE_OUTPUT = aspects.special(
    "one output", weight=8.0, meaning="With one output, each prediction is compared with its own target and no other."
)

CALLED = {"averaged": "what is averaged"}
VALUES = aspects.worded(aspects.values(), "averaged")


def cases(generator: np.random.Generator) -> list[Case]:
    drawn = [(case, to_tensors(dict(case.inputs))) for case in in_arrays(generator)]
    return [
        Case(case.label, with_gaps(inputs) if case.tags == aspects.LAYOUT.tags else inputs, case.tags)
        for case, inputs in drawn
    ]


def in_arrays(generator: np.random.Generator) -> list[Case]:
    """The cases with NumPy's arrays."""
    n, *three = dims(generator, 4, 3, 8)
    side = int(generator.integers(3, 6))
    d_in, d_hidden, rows = dims(generator, 3, 3, 8)
    apart = draw_batch(generator, dims(generator, 3, 3, 7), 4)
    exact = draw_batch(generator, three, n, np.float64)
    for far in (exact["params"][-1][1], exact["batch"][1]):
        far += 1000  # of numbers that are nearly the same, float32 doesn't keep the difference
    return [
        Case.of("with several outputs", **draw_batch(generator, three, n)),
        Case.of("where all sizes are equal", **draw_batch(generator, [side] * 3, side)),
        Case.of("with a single layer", **draw_batch(generator, three[:2], n)),
        Case.of("with one output", ONE_OUTPUT, **draw_batch(generator, [d_in, d_hidden, 1], rows)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **draw_batch(generator, three, 1)),
        Case.of("with float64", aspects.FLOAT64, **exact),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **apart),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The one number, and what else is averaged, if that can be seen."""
    if "output" not in observation:
        return observation
    observation = one_number(observation, case)
    if not case.tags >= aspects.USUAL:
        return observation
    (inputs, targets), params = case.inputs["batch"], case.inputs["params"]
    layers = [(numbers_in(W), numbers_in(b)) for W, b in params]
    predictions, wanted = mlp_predict_numpy(layers, numbers_in(inputs)), numbers_in(targets)
    words = _averaged(predictions - wanted, observation["output"])
    if words == AS_ASKED and predictions.shape[1] > 1:
        words = _compared(predictions, wanted, observation["output"])
    number = numbers_in(observation["output"])
    right = number.shape == () and bool(np.isclose(number, ((predictions - wanted) ** 2).mean(), rtol=1e-4))
    return {"averaged": words, "graph": behind(observation, right), **observation}


def _compared(predictions: np.ndarray, targets: np.ndarray, output: Any) -> str:
    """Whether each number of the predictions meets all targets."""
    number, right = numbers_in(output), ((predictions - targets) ** 2).mean()
    everywhere = ((predictions.reshape(-1, 1) - targets.reshape(-1)) ** 2).mean()
    if number.shape == () and np.isclose(number, everywhere, rtol=1e-4) and not np.isclose(number, right, rtol=1e-3):
        return "Each entry of the predictions is compared with every entry of the targets. Which two belong together?"
    return AS_ASKED


def _averaged(errors: np.ndarray, output: Any) -> str:
    squares = errors**2
    number = numbers_in(output)
    if number.shape != () or np.isclose(number, squares.mean(), rtol=1e-4):
        return AS_ASKED
    norm = np.sqrt(squares.sum())
    counts = [
        count for count in (errors.size, *errors.shape) if count > 1 and count**2 != errors.size
    ]  # no root of a mean
    if any(np.isclose(number, norm / count, rtol=1e-4) for count in counts):
        return "Your result is the root of the sum of the squared errors, divided by a count. Does MSE have a root?"
    for axis, name in enumerate(("row", "column")):
        for at in range(errors.shape[axis]):
            if np.isclose(number, squares.take(at, axis).mean(), rtol=1e-4):
                return f"Only the errors of {name} {at} count. Over which entries does the docstring take the mean?"
            others = np.delete(squares, at, axis)
            if others.size and np.isclose(number, others.mean(), rtol=1e-4):
                return f"The errors of {name} {at} don't count. Over which entries does the docstring take the mean?"
    return _made_of(errors, number)


def _made_of(errors: np.ndarray, number: np.ndarray) -> str:
    """What else than the mean of squares this is: another loss, or slips in the same line, two at once."""
    absolute = np.abs(errors)
    straight = np.where(absolute < 1, errors**2 / 2, absolute - 0.5).mean()
    if np.isclose(number, straight, rtol=1e-4):
        return "Your loss takes large errors as they are and squares only small ones. What does MSE do with each error?"
    squares = errors**2
    bases = {
        "the root of the mean squared error": squares.mean() ** 0.5,
        "the sum of the squared errors": squares.sum(),
        "the sum of the squared errors divided by the number of rows": squares.sum() / len(errors),
        "the mean absolute error": absolute.mean(),
        "the square of the mean error": errors.mean() ** 2,
    }
    fitting = [
        f"{factor} {base}"
        for factor, times in {"half of": 0.5, "twice": 2.0}.items()
        for base, measure in bases.items()
        if np.isclose(number, times * measure, rtol=1e-4)
    ]
    if len(fitting) == 1:
        return f"Your result is {fitting[0]}. What does each letter of MSE stand for, and is there a factor in it?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.mlp",
    points=1,
    cases=cases,
    canonical=in_words,
    called=CALLED,
    aspects=(
        ONE_NUMBER,
        VALUES,
        aspects.gradients(13.0),
        GRAPH,
        replace(ONE_OUTPUT, weight=3.0),  # a squeeze costs gradients, too
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(),
        aspects.untouched(),
    ),
)
