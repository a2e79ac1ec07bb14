"""`can_overfit`, the bug clinic: how it is tried. Does a model, with its training step, learn one batch by heart?"""

from __future__ import annotations

from functools import partial

import numpy as np

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import special, spoken, tells_apart
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_10 import patients
from transformer_course.lessons.lesson_10.patients import trainer

SOUND, STUCK, LOW = tells_apart(
    sound="sound training passes",
    stuck="training that gets nowhere is found",
    low="training that gets somewhere, but not far enough, is found",
    central=("low",),
    meanings={
        "sound": "Training that learns the batch by heart within 300 steps passes, even if it is slow.",
        "stuck": "Training whose loss stays high, is high at the end, or turns into NaN, doesn't pass.",
        "low": "A loss that falls, but stays far above 0.05, isn't low enough.",
    },
)
BOUNDS = special(
    "a loss below 0.05, after 300 steps", "bounds", 3.0, "A loss of exactly 0.05 is too high, and step 301 is too late."
)
# What it says, the patients show anyway, and these have the points.
GOES_BY = spoken(
    "what the test goes by",
    "goes_by",
    tag="made_up",
    meaning="Of one new model, the loss after 300 steps decides, and nothing else.",
)

# (kind of patient, what looks at it, words for the learner)
TRAININGS = [
    (patients.Trained, SOUND, "with training that works"),
    (patients.Slow, SOUND, "with training that works, but needs most of the 300 steps"),
    (patients.AtFirst, SOUND, "with training that stands still at first, and then works"),
    (patients.Settled, SOUND, "with training whose loss settles a little below 0.05"),
    (patients.FromBelow, SOUND, "with training whose first loss is low already"),
    (patients.BelowZero, SOUND, "with a loss that falls below 0"),
    (patients.JustInTime, SOUND, "with training that gets there in the last of the 300 steps"),
    (patients.HighNearTheEnd, SOUND, "with training whose loss is high once more two steps before the end"),
    (patients.Shaken, SOUND, "with training whose loss shoots up once, and then works"),
    (patients.Explodes, STUCK, "with training that learns the batch, and then explodes"),
    (patients.HighAtTheEnd, STUCK, "with training whose loss is high in the last two steps"),
    (patients.SettledAbove, BOUNDS, "with training whose loss settles a little above 0.05"),
    (patients.SettledAtTheBound, BOUNDS, "with training whose loss settles at exactly 0.05"),
    (patients.JustTooLate, BOUNDS, "with training that gets there only after the 300 steps"),
    (patients.TooSlow, LOW, "with a learning rate that is too low for 300 steps"),
    (patients.Shuffled, STUCK, "with labels that are shuffled at every step"),
    (patients.FromAbove, LOW, "with a very high first loss, and a last one of 0.4"),
    (patients.Contradiction, LOW, "with two equal rows that have different labels, so that the loss settles above 0.1"),
    (patients.Quarrel, LOW, "with weights that start too large, and rows that contradict each other"),
    (patients.SoftmaxTwice, LOW, "with softmax in front of a loss that has its own"),
    (patients.Frozen, STUCK, "with an optimiser that holds another model's parameters"),
    (patients.Dead, STUCK, "with dead ReLUs"),
    (patients.NeverCleared, STUCK, "with gradients that are never cleared"),
    (patients.NotANumber, STUCK, "with a loss that turns into NaN"),
]


def cases(generator: np.random.Generator) -> list[Case]:
    inputs, targets = draw.normal(generator, 8, 6), draw.integers(generator, 0, 4, 8)
    return [
        *(
            Case(label, {"inputs": inputs, "targets": targets}, aspect.tags, partial(trainer, kind))
            for kind, aspect, label in TRAININGS
        ),
        Case.of("with losses that are made up", GOES_BY),
    ]


TRIAL = Trial(
    module="transformer_course.training_well.overfitting",
    points=2,
    cases=cases,
    called={"goes_by": "what the answer hangs on"},
    aspects=(SOUND, STUCK, LOW, BOUNDS, GOES_BY),
)
