"""Lesson 01: tensors as puzzles, then a gradient by hand, one network in NumPy, in tensors and as a module."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_01.exercises.clinic import LOSS_IS_SOUND
from lessons.lesson_01.exercises.equivalents import EQUIVALENTS
from lessons.lesson_01.exercises.module import MLP_MODULE
from lessons.lesson_01.exercises.training import TRAIN

LESSON = Lesson(
    title="Points in, curve out",
    exercises=(
        MLP_MODULE,
        TRAIN,
        LOSS_IS_SOUND,
    ),
    equivalents=EQUIVALENTS,
)
