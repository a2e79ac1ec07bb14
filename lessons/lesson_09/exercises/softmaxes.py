"""`softmax` and `softmax_backward`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.functions import softmax, softmax_backward
from grader.authoring.aspects import dtype, shape, special, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.drawing import normal


def _numbers(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 2, 6)
    huge = normal(generator, a, b) * 3
    huge[0, 0], huge[1, 1] = 800.0, -800.0
    low = normal(generator, a, b)
    low[0] -= 2000.0
    return [
        Case.of("on a matrix", x=normal(generator, a, b)),
        Case.of("on three axes", x=normal(generator, a, b, c)),
        Case.of("on a single row", x=normal(generator, c + 1)),
        Case.of("along another axis", "axis", x=normal(generator, a, b, c), axis=1),
        Case.of("along the first axis of a square", "axis", x=normal(generator, b, b), axis=0),
        Case.of("on very large numbers", "large", x=huge),
        Case.of("where all numbers of a row are far below 0", "large", x=low),
        Case.of("with float32", "float32", x=normal(generator, a, b, dtype=np.float32)),
    ]


def _overflowing(x: np.ndarray, axis: int = -1) -> Any:
    with np.errstate(all="ignore"):
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def _last_axis(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return softmax(x)


def _whole_array(x: np.ndarray, axis: int = -1) -> np.ndarray:
    raised = np.exp(x - x.max())
    return np.asarray(raised / raised.sum())


def _kept_no_axis(x: np.ndarray, axis: int = -1) -> Any:
    raised = np.exp(x - x.max(axis=axis))
    return raised / raised.sum(axis=axis)


def _one_maximum(x: np.ndarray, axis: int = -1) -> Any:
    with np.errstate(all="ignore"):
        raised = np.exp(x - x.max())
        return raised / raised.sum(axis=axis, keepdims=True)


def _not_divided(x: np.ndarray, axis: int = -1) -> Any:
    return np.exp(x - x.max(axis=axis, keepdims=True))


def _no_exponential(x: np.ndarray, axis: int = -1) -> Any:
    shifted = x - x.min(axis=axis, keepdims=True)
    return shifted / shifted.sum(axis=axis, keepdims=True)


def _log(x: np.ndarray, axis: int = -1) -> Any:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _in_place(x: np.ndarray, axis: int = -1) -> Any:
    x -= x.max(axis=axis, keepdims=True)
    return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)


def _mean(x: np.ndarray, axis: int = -1) -> Any:
    raised = np.exp(x - x.max(axis=axis, keepdims=True))
    return raised / raised.mean(axis=axis, keepdims=True)


def _in_double(x: np.ndarray, axis: int = -1) -> Any:
    return softmax(x.astype(np.float64), axis)


def _by_logsumexp(x: np.ndarray, axis: int = -1) -> Any:
    return np.exp(_log(x, axis))


def _moved(x: np.ndarray, axis: int = -1) -> Any:
    last = np.moveaxis(x, axis, -1)
    return np.moveaxis(softmax(last), -1, axis)


def _by_reduce(x: np.ndarray, axis: int = -1) -> Any:
    return np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True))


def _by_rows(x: np.ndarray, axis: int = -1) -> Any:
    def row(r: np.ndarray) -> Any:
        e = np.exp(r - r.max())
        return e / e.sum()

    return np.apply_along_axis(row, axis, x)


SOFTMAX = Exercise(
    symbol="softmax",
    points=1,
    cases=_numbers,
    references=(softmax,),
    aspects=(
        shape(),
        values(),
        special("another axis", "axis", 1.5, meaning="The axis that is passed in is the one along which rows add up."),
        special("very large numbers", "large", 1.5, meaning="Numbers far from 0 give the right result, not NaN."),
        dtype(),
        special("float32", "float32"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "overflows",
            _overflowing,
            "Right for small numbers, but exp(800) is infinite, and infinite divided by infinite is NaN. What could "
            "you subtract from a whole row without changing its softmax?",
        ),
        Mistake(
            "axis_ignored",
            _last_axis,
            "You always work along the last axis. Which argument says where the numbers should add up to 1?",
        ),
        Mistake(
            "whole_array_adds_up_to_one",
            _whole_array,
            "All your numbers together add up to 1, but it should be each row. Along which axis do you sum?",
            central=True,
        ),
        Mistake(
            "axes_not_kept",
            _kept_no_axis,
            "After a maximum or a sum, one axis is gone, and the shapes only fit by luck. Which option keeps it, with "
            "length one?",
        ),
        Mistake(
            "one_maximum_for_all",
            _one_maximum,
            "You subtract the largest number of the whole array. A row far below it becomes 0 / 0. Whose maximum does "
            "each row need?",
        ),
        Mistake(
            "not_divided",
            _not_divided,
            "These are the exponentials. What turns them into shares of a whole?",
            central=True,
        ),
        Mistake(
            "no_exponential",
            _no_exponential,
            "Your rows add up to 1, but by plain division. Which function comes before it, and makes everything "
            "positive?",
            central=True,
        ),
        Mistake(
            "logarithm",
            _log,
            "That is the logarithm of the softmax: all your numbers are negative or 0. What undoes a logarithm?",
            central=True,
        ),
        Mistake(
            "divided_by_the_mean",
            _mean,
            "Your rows add up to their length instead of 1. Do you divide by the sum, or by the mean?",
        ),
        Mistake(
            "changed_in_place",
            _in_place,
            "The result is right, but the caller's x isn't what it was. What does -= do to an array that somebody "
            "else uses too?",
        ),
        Mistake(
            "in_float64",
            _in_double,
            "With float32 numbers, the result comes back as float64. Where do you change the dtype?",
        ),
    ),
    variants={
        "by the logarithm": _by_logsumexp,
        "the axis moved last": _moved,
        "logaddexp": _by_reduce,
        "row by row": _by_rows,
    },
)


def _pairs(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 3, 7)

    def draw(*sizes: int, kind: Any = np.float64) -> dict[str, Any]:
        return {
            "weights": softmax(normal(generator, *sizes, dtype=kind) * kind(2)),
            "gradient": normal(generator, *sizes, dtype=kind),
        }

    hidden = draw(a, b)
    hidden["weights"][:, 1] = 0.0
    hidden["weights"] /= hidden["weights"].sum(axis=-1, keepdims=True)
    return [
        Case.of("on a single row", **draw(c)),
        Case.of("on several rows", **draw(a, b)),
        Case.of("on four axes, as attention has them", **draw(2, a, b, c)),
        Case.of("on a square of scores", **draw(b, b)),
        Case.of("where a key is hidden and has weight 0", "hidden", **hidden),
        Case.of("on rows of one", "single", **draw(a, 1)),
        Case.of("with float32", "float32", **draw(a, b, kind=np.float32)),
    ]


def _jacobian(weights: np.ndarray, gradient: np.ndarray) -> Any:
    matrices = weights[..., None] * np.eye(weights.shape[-1], dtype=weights.dtype)
    return np.einsum("...ij,...j->...i", matrices - weights[..., None] * weights[..., None, :], gradient)


def _flat_loop(weights: np.ndarray, gradient: np.ndarray) -> Any:
    result = np.empty_like(gradient)
    for place in np.ndindex(weights.shape[:-1]):
        w, g = weights[place], gradient[place]
        result[place] = (np.diag(w) - np.outer(w, w)) @ g
    return result


def _written_into(weights: np.ndarray, gradient: np.ndarray) -> Any:
    gradient -= (weights * gradient).sum(axis=-1, keepdims=True)
    return weights * gradient


SOFTMAX_BACKWARD = Exercise(
    symbol="softmax_backward",
    points=2,
    cases=_pairs,
    references=(softmax_backward,),
    aspects=(
        shape(),
        values(),
        special("hidden keys", "hidden", meaning="A score whose weight is 0 gets the gradient 0."),
        special("rows of one", "single", meaning="A weight that is always 1 passes no gradient on."),
        dtype(),
        special("float32", "float32"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "no_jacobian",
            lambda w, g: w * g,
            "Each score only sees its own weight. But if one weight grows, the others shrink: which sum over the row "
            "is missing?",
            central=True,
        ),
        Mistake(
            "as_a_sigmoid",
            lambda w, g: w * (1 - w) * g,
            "That is the diagonal of the Jacobian: how each weight depends on its own score. What do the entries off "
            "the diagonal add?",
            central=True,
        ),
        Mistake(
            "plain_mean",
            lambda w, g: w * (g - g.mean(axis=-1, keepdims=True)),
            "You subtract the plain mean of the gradients. Which numbers weigh them in this row?",
            central=True,
        ),
        Mistake(
            "sum_not_weighed",
            lambda w, g: w * (g - g.sum(axis=-1, keepdims=True)),
            "You subtract the sum of the gradients themselves. What is each of them multiplied by before it is added "
            "up?",
            central=True,
        ),
        Mistake(
            "added_instead",
            lambda w, g: w * (g + (w * g).sum(axis=-1, keepdims=True)),
            "You add the row's sum. If all gradients in a row are equal, the loss can't change, since the weights "
            "always add up to 1. What should come out then?",
            central=True,
        ),
        Mistake(
            "summed_over_everything",
            lambda w, g: w * (g - (w * g).sum()),
            "Your sum runs over the whole array. Which numbers share one softmax?",
            central=True,
        ),
        Mistake(
            "summed_over_queries",
            lambda w, g: w * (g - (w * g).sum(axis=0, keepdims=True)),
            "Your sum runs over the first axis. Along which axis do the weights add up to 1?",
        ),
        Mistake(
            "weight_missing",
            lambda w, g: g - (w * g).sum(axis=-1, keepdims=True),
            "The difference is right, but a score with a tiny weight moves as much as one with a large weight. "
            "What stands in front of the bracket?",
            central=True,
        ),
        Mistake(
            "softmax_again",
            lambda w, g: softmax_backward(softmax(w), g),
            "You apply the softmax once more. The first argument has been through it already: do its rows not add up "
            "to 1?",
        ),
        Mistake(
            "axis_lost",
            lambda w, g: (w * g).sum(axis=-1),
            "You return one number a row. There are as many scores as there are weights: what has to happen to that "
            "number next?",
        ),
        Mistake(
            "gradient_overwritten",
            _written_into,
            "The result is right, but the caller's gradient has changed. What does -= do to an array that somebody "
            "else uses too?",
        ),
    ),
    variants={
        "the whole Jacobian": _jacobian,
        "row by row": _flat_loop,
        "two products": lambda w, g: w * g - w * np.einsum("...i,...i->...", w, g)[..., None],
        "as a product of matrices": lambda w, g: w * (g - (w[..., None, :] @ g[..., :, None])[..., 0]),
    },
)
