"""Lesson 10: one model on one task, made to fail in every way that training fails, and then repaired."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_10.exercises.accumulating import ACCUMULATED_STEP
from lessons.lesson_10.exercises.clinic import CAN_OVERFIT
from lessons.lesson_10.exercises.clipping import CLIP_GRADIENTS
from lessons.lesson_10.exercises.dropping import DROPOUT
from lessons.lesson_10.exercises.equivalents import EQUIVALENTS
from lessons.lesson_10.exercises.halving import HALF_PRECISION_STEP
from lessons.lesson_10.exercises.saving import RUN_CHECKPOINTED
from lessons.lesson_10.exercises.schedule import WARMUP_SCHEDULE
from lessons.lesson_10.exercises.stopping import EARLY_STOPPING

LESSON = Lesson(
    title="Training well",
    exercises=(
        CAN_OVERFIT,
        WARMUP_SCHEDULE,
        CLIP_GRADIENTS,
        ACCUMULATED_STEP,
        DROPOUT,
        EARLY_STOPPING,
        RUN_CHECKPOINTED,
        HALF_PRECISION_STEP,
    ),
    equivalents=EQUIVALENTS,
)
