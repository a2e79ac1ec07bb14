"""`can_overfit`, the bug clinic: does a model, with its training step, learn one batch by heart?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course.training_well.overfitting import can_overfit
from grader.authoring import draw
from grader.authoring.aspects import tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_10.exercises.patients import trainer

# (patient, tag, words for the learner)
_TRIED = [
    ("Trained", "sound", "with training that works"),
    ("Slow", "sound", "with training that works, but needs most of the 300 steps"),
    ("AtFirst", "sound", "with training that stands still at first, and then works"),
    ("Noisy", "sound", "with training whose loss settles at about 0.02"),
    ("TooSlow", "low", "with a learning rate that is too low for 300 steps"),
    ("Shuffled", "stuck", "with labels that are shuffled at every step"),
    ("Contradiction", "low", "with two equal rows that have different labels, so that the loss settles above 0.1"),
    ("Quarrel", "low", "with weights that start too large, and rows that contradict each other"),
    ("SoftmaxTwice", "low", "with softmax in front of a loss that has its own"),
    ("Frozen", "stuck", "with an optimiser that holds another model's parameters"),
    ("Dead", "stuck", "with dead ReLUs"),
    ("NeverCleared", "stuck", "with gradients that are never cleared"),
    ("NotANumber", "stuck", "with a loss that turns into NaN"),
]


def _trainings(generator: np.random.Generator) -> list[Case]:
    inputs, targets = draw.normal(generator, 8, 6), draw.integers(generator, 0, 4, 8)
    return [
        Case(label, {"inputs": inputs, "targets": targets}, frozenset({tag}), partial(trainer, name))
        for name, tag, label in _TRIED
    ]


def _steps(
    steps: int = 300,
    verdict: Callable[[list[float]], Any] = lambda losses: losses[-1] < 0.05,
    anew: bool = False,
) -> Callable[..., Any]:
    """So many steps, and a verdict over all their losses."""

    def test(make_model: Any, train_step: Any, batch: Any) -> Any:
        model, losses = make_model(), []
        for _ in range(steps):
            losses.append(train_step(make_model() if anew else model, batch))
        return verdict(losses)

    return test


def _leaves_early(make_model: Any, train_step: Any, batch: Any) -> bool:
    """Stops as soon as the loss is low enough."""
    model = make_model()
    return any(train_step(model, batch) < 0.05 for _ in range(300))


def _one_more_look(make_model: Any, train_step: Any, batch: Any) -> bool:
    """Looks at the loss after the last step, which the next one returns."""
    model = make_model()
    for _ in range(300):
        train_step(model, batch)
    return not math.isnan(last := float(train_step(model, batch))) and last < 0.05


CAN_OVERFIT = Exercise(
    symbol="can_overfit",
    points=2,
    cases=_trainings,
    references=(can_overfit,),
    aspects=tells_apart(
        sound="sound training passes",
        stuck="training that gets nowhere is found",
        low="training that gets somewhere, but not far enough, is found",
        meanings={
            "sound": "Training that learns the batch by heart within 300 steps passes, even if it is slow.",
            "stuck": "Training whose loss stays high, or turns into NaN, doesn't pass.",
            "low": "A loss that falls, but not below 0.05 within 300 steps, isn't low enough.",
        },
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda make_model, train_step, batch: True,
            "Your test says True whatever it is shown. What does broken training fail to do?",
            central=True,
        ),
        Mistake(
            "always_false",
            lambda make_model, train_step, batch: False,
            "Your test says False to sound training too. Does it train one model for all 300 steps, or a new "
            "one each time?",
            central=True,
        ),
        Mistake(
            "falls_at_all",
            _steps(verdict=lambda losses: losses[-1] < losses[0]),
            "You ask whether the loss falls at all. Broken training often gets a little better: how low should it get?",
            central=True,
        ),
        Mistake(
            "falls_by_half",
            _steps(verdict=lambda losses: losses[-1] < losses[0] / 2),
            "You compare the loss with the first one. How low should it get, whatever it began with?",
            central=True,
        ),
        Mistake(
            "too_few_steps",
            _steps(steps=30),
            "You give up too early: slow training that would get there fails. How many steps does it get?",
            central=True,
        ),
        Mistake(
            "too_many_steps",
            _steps(steps=400),
            "You wait longer than 300 steps, so training that is too slow passes. How many steps does it get?",
        ),
        Mistake(
            "too_generous",
            _steps(verdict=lambda losses: losses[-1] < 0.5),
            "Your bound is too generous: a loss of 0.2 is no batch learnt by heart. Which bound does the "
            "docstring give?",
            central=True,
        ),
        Mistake(
            "too_strict",
            _steps(verdict=lambda losses: losses[-1] < 0.005),
            "Your bound is too strict: training that gets below 0.05 fails. Which bound does the docstring give?",
        ),
        Mistake(
            "nan_passes",
            _steps(verdict=lambda losses: not losses[-1] >= 0.05),
            "NaN gets past you: no comparison with NaN is True. Which way round should you ask?",
        ),
        Mistake(
            "nan_is_the_only_fault",
            _steps(verdict=lambda losses: not math.isnan(losses[-1])),
            "You look for NaN alone. What else may a loss do in place of falling?",
            central=True,
        ),
        Mistake(
            "returns_the_loss",
            _steps(verdict=lambda losses: losses[-1]),
            "You return the last loss. What should a test return?",
            central=True,
        ),
        Mistake(
            "the_wrong_way_round",
            _steps(verdict=lambda losses: losses[-1] >= 0.05),
            "You say True to training that fails. Which way round should the answer be?",
            central=True,
        ),
    ),
    variants={
        "leaves early": _leaves_early,
        "one more look": _one_more_look,
        "the mean of the last few": _steps(verdict=lambda losses: sum(losses[-3:]) / 3 < 0.05),
    },
)
