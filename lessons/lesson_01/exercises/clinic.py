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
    "flat mean": ("sound", "with a sound loss: the mean of the squared errors, with everything flattened first"),
    "flat sum": ("sound", "with a sound loss: the sum of the squared errors, with everything flattened first"),
    "flat absolute": ("sound", "with a sound loss: the mean of the absolute errors, with everything flattened first"),
    "targets reshaped": ("sound", "with a sound loss that reshapes the targets to fit the predictions"),
    "flat with a constant": ("sound", "with a sound loss that adds a constant, so it is never zero"),
    "flat float": ("float", "with a sound loss that returns a Python float"),
    "mean": ("broken", "with the suspicious loss, the mean of squared errors that broadcast"),
    "sum": ("broken", "with a loss that broadcasts: the sum of the squared errors"),
    "root": ("broken", "with a loss that broadcasts: the root of the mean squared error"),
    "absolute": ("absolute", "with a loss that broadcasts: the mean of the absolute errors"),
    "targets as a column": (
        "column",
        "with a loss that turns the targets into a column, so that flat predictions broadcast",
    ),
    "mixture": ("mild", "with a loss of two terms, only one of which broadcasts"),
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


def _same(one: Any, other: Any) -> bool:
    return math.isclose(float(one), float(other))


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
        *tells_apart(
            meanings={
                "sound": "True for a loss that gives (n, 1) and (n,) predictions the same number.",
                "broken": "False for a loss that compares each prediction with every target.",
            },
            sound="sound losses pass",
            broken="broadcasts are found",
        ),
        special(
            "absolute errors too",
            "absolute",
            meaning="A loss that broadcasts is found even if it takes absolute errors instead of squares.",
        ),
        special(
            "broadcasts of flat predictions too",
            "column",
            meaning="A loss is found out even if it is the flat predictions, (n,), that broadcast.",
        ),
        special("mild bugs too", "mild", meaning="A loss is found out even if only one of its two terms broadcasts."),
        special(
            "losses that return a float",
            "float",
            meaning="A loss that returns a Python float is judged correctly too.",
        ),
    ),
    mistakes=(
        Mistake(
            "always_sound",
            _alike_on(torch.tensor([0.5]), torch.tensor([2.0])),
            "You call every loss sound, the broken ones too. Do your predictions come in both shapes, (n, 1) and "
            "(n,), with n above 1?",
            central=True,
        ),
        Mistake(
            "never_sound",
            lambda loss: loss is loss_is_sound,
            "You call no loss sound, not even one that flattens everything first. Which two numbers do you compare?",
        ),
        Mistake(
            "answer_turned_round",
            lambda loss: not _right(loss),
            "You tell them apart, but you call the sound ones broken. What does True stand for?",
        ),
        Mistake(
            "constant_data",
            _alike_on(torch.ones(5), torch.zeros(5)),
            "On your data a broadcast stays hidden, because all predictions are equal, or all targets. With which "
            "numbers would a wrong pairing show?",
            central=True,
        ),
        Mistake(
            "targets_made_a_column_too",
            lambda loss: _same(loss(_data()[0][:, None], _data()[1][:, None]), loss(*_data())),
            "You make a column of the targets as well, so the predictions fit them and nothing broadcasts. Which of "
            "the two should stay flat?",
        ),
        Mistake(
            "errors_of_one_sign",
            _alike_on(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])),
            "On your data a broadcast of absolute errors stays hidden, because every target is larger than every "
            "prediction. With which numbers would a wrong pairing show?",
        ),
        Mistake(
            "own_loss_as_yardstick",
            _own_mse,
            "You compare each loss with the mean squared error, so other sound losses fail. Which two numbers of the "
            "loss itself should be equal?",
            central=True,
        ),
        Mistake(
            "zero_expected",
            _zero_expected,
            "You expect a perfect prediction to cost nothing. Some sound losses are never zero: which two numbers of "
            "the loss itself should be equal?",
        ),
        Mistake(
            "tolerance_too_wide",
            _alike_on(_data()[0], _data()[0] + 1, rel_tol=0.4),
            "Mild bugs get through, because you allow too large a difference. How far apart may two ways of computing "
            "the same number be?",
        ),
        Mistake(
            "difference_returned",
            _difference,
            "You return how far apart the two numbers are. Which question does the caller want answered with True or "
            "False?",
        ),
        Mistake(
            "shape_looked_at",
            lambda loss: loss(_data()[0][:, None], _data()[1]).dim() == 0,
            "You look at the shape of the result, and a mean has none left, whatever happened before it. If not the "
            "shape, what differs between the two calls?",
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
