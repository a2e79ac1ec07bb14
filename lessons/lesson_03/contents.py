"""Lesson 03: from one attention layer by hand to a Transformer that names the class of a row of tokens."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_03.exercises.classifier import TRANSFORMER_CLASSIFIER
from lessons.lesson_03.exercises.clinic import IGNORES_PADDING
from lessons.lesson_03.exercises.equivalents import EQUIVALENTS

LESSON = Lesson(
    title="Who looks at whom",
    exercises=(
        TRANSFORMER_CLASSIFIER,
        IGNORES_PADDING,
    ),
    equivalents=EQUIVALENTS,
)
