"""`loss_is_sound`, the bug clinic: a test for a bug that gives no error. The losses stand in `patients`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.training import loss_is_sound
from grader.authoring.aspects import special, tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_01.exercises.patients import loss

Loss = Callable[[Any, Any], Any]

# Per loss: the tag that says which aspect it decides about, and the words for the learner.
_LOSSES = {
    "flat mean": ("sound", "with a sound loss: squared errors of flattened predictions, their mean"),
    "flat sum": ("sound", "with a sound loss: squared errors of flattened predictions, their sum"),
    "flat absolute": ("sound", "with a sound loss: absolute errors of flattened predictions, their mean"),
    "targets reshaped": ("sound", "with a sound loss that gives the targets the predictions' shape"),
    "flat with a constant": ("sound", "with a sound loss that is never zero"),
    "flat float": ("float", "with a sound loss that returns a Python float"),
    "mean": ("broken", "with a loss that broadcasts: squared errors, their mean"),
    "sum": ("broken", "with a loss that broadcasts: squared errors, their sum"),
    "root": ("broken", "with a loss that broadcasts: root of the mean squared error"),
    "absolute": ("absolute", "with a loss that broadcasts: absolute errors, their mean"),
    "targets as a column": (
        "column",
        "with a loss that makes a column of the targets, so flat predictions broadcast",
    ),
    "mixture": ("mild", "with a loss that broadcasts in one of two terms"),
    "broadcast float": ("float", "with a loss that broadcasts and returns a Python float"),
}


def _losses(generator: np.random.Generator) -> list[Case]:
    def scale(name: str) -> float:
        # The mean squared error itself must be among them: it is the yardstick of one of the mistakes.
        return 1.0 if name == "flat mean" else float(generator.uniform(0.5, 0.9))

    return [
        Case(label, {}, frozenset({tag}), partial(loss, name, scale(name))) for name, (tag, label) in _LOSSES.items()
    ]


def _data(n: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictions and targets that no pairing but the right one fits."""
    return torch.linspace(-1, 2, n, dtype=torch.float64), torch.linspace(-1.2, 2.5, n, dtype=torch.float64)


def _both(loss: Loss, predictions: torch.Tensor, targets: torch.Tensor) -> tuple[float, float]:
    return float(loss(predictions[:, None], targets)), float(loss(predictions, targets))


def _alike_on(predictions: torch.Tensor, targets: torch.Tensor, rel_tol: float = 1e-9) -> Callable[[Loss], bool]:
    """Says that a loss is sound when it does not tell (n, 1) from (n,) on these data."""
    return lambda loss: math.isclose(*_both(loss, predictions, targets), rel_tol=rel_tol)


def _right(loss: Loss) -> bool:
    column, flat = _both(loss, *_data())
    return abs(column - flat) < 1e-9


def _tensors_only(loss: Any) -> bool:
    """Right for a loss that returns a tensor: the contract says "number", and leaves open which kind."""
    predictions, targets = _data()
    return torch.allclose(loss(predictions.unsqueeze(1), targets), loss(predictions, targets))


def _own_mse(loss: Loss) -> bool:
    predictions, targets = _data()
    return math.isclose(float(loss(predictions[:, None], targets)), float(((predictions - targets) ** 2).mean()))


def _zero_expected(loss: Loss) -> bool:
    predictions, _ = _data()
    return abs(float(loss(predictions[:, None], predictions))) < 1e-9


def _difference(loss: Loss) -> float:
    column, flat = _both(loss, *_data())
    return abs(column - flat)


def _by_random_numbers(loss: Loss) -> bool:
    predictions, targets = torch.randn(8, 1), torch.randn(8)
    return bool(np.isclose(float(loss(predictions, targets)), float(loss(predictions[:, 0], targets))))


def _by_numpy(loss: Loss) -> Any:
    predictions, targets = (each.numpy() for each in _data())
    return np.isclose(loss(predictions.reshape(-1, 1), targets), loss(predictions, targets))


def _by_perfect_predictions(loss: Loss) -> bool:
    targets = torch.arange(4.0)
    return float(loss(targets.view(4, 1), targets)) == float(loss(targets, targets))


def _by_several_tries(loss: Loss) -> bool:
    generator = torch.Generator().manual_seed(3)
    for n in (2, 3, 10):
        predictions, targets = torch.randn(2, n, generator=generator)
        try:
            column, flat = _both(loss, predictions, targets)
        except RuntimeError:
            continue
        if abs(column - flat) > 1e-6 * max(1.0, abs(flat)):
            return False
    return True


LOSS_IS_SOUND = Exercise(
    symbol="loss_is_sound",
    points=2,
    cases=_losses,
    references=(loss_is_sound, _tensors_only),
    aspects=(
        *tells_apart(sound="sound losses pass", broken="broadcasts are found"),
        special("whatever a loss makes of the errors", "absolute"),
        special("whichever shape is the broken one", "column"),
        special("mild bugs too", "mild"),
        special("a loss that returns a float", "float"),
    ),
    mistakes=(
        Mistake(
            "always_sound",
            _alike_on(torch.tensor([0.5]), torch.tensor([2.0])),
            "Every loss is sound to you, the broken ones too. Do your predictions come in both shapes, (n, "
            "1) and (n,), with n above 1?",
        ),
        Mistake(
            "never_sound",
            lambda loss: loss is loss_is_sound,
            "No loss is sound to you, not even one that flattens everything first. Which two numbers do you compare?",
        ),
        Mistake(
            "answer_turned_round",
            lambda loss: not _right(loss),
            "You tell them apart, and call the sound ones broken. What does True stand for?",
        ),
        Mistake(
            "constant_data",
            _alike_on(torch.ones(5), torch.zeros(5)),
            "On your data a broadcast hides, because all predictions are equal, or all targets. Which "
            "numbers would make a wrong pairing show?",
        ),
        Mistake(
            "errors_of_one_sign",
            _alike_on(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])),
            "On your data a broadcast of absolute errors hides, because every target is larger than every "
            "prediction. Which numbers would make a wrong pairing show?",
        ),
        Mistake(
            "own_loss_as_yardstick",
            _own_mse,
            "You hold each loss against the mean squared error, so other sound losses fail. Which two "
            "numbers of the loss itself should be the same?",
        ),
        Mistake(
            "zero_expected",
            _zero_expected,
            "You ask whether a perfect prediction costs nothing. Some sound losses are never zero: which "
            "two numbers of the loss itself should be the same?",
        ),
        Mistake(
            "tolerance_too_wide",
            _alike_on(_data()[0], _data()[0] + 1, rel_tol=0.4),
            "Mild bugs get through, since you allow a wide difference. How far apart may two ways to "
            "compute one number be?",
        ),
        Mistake(
            "difference_returned",
            _difference,
            "You return how far the two numbers are apart. Which question does the caller want answered "
            "with True or False?",
        ),
        Mistake(
            "shape_looked_at",
            lambda loss: loss(_data()[0][:, None], _data()[1]).dim() == 0,
            "You look at the shape of the result, and a mean has none left, whatever happened before it. "
            "What differs between the two calls, if not the shape?",
        ),
    ),
    variants={
        "difference of two floats": _right,
        "random numbers": _by_random_numbers,
        "NumPy arrays": _by_numpy,
        "perfect predictions": _by_perfect_predictions,
        "several tries": _by_several_tries,
        "tensors only": _tensors_only,
        "a tensor for an answer": lambda loss: torch.tensor(_right(loss)),
    },
)
