"""Lesson 05: the leak, measured before it is closed, and the mask that closes it."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_05.exercises.equivalents import EQUIVALENTS
from lessons.lesson_05.exercises.leak import FUTURE_LEAK
from lessons.lesson_05.exercises.masks import CAUSAL_MASK, DECODER_MASK
from lessons.lesson_05.exercises.translating import CAUSAL_SEQ2SEQ_TRANSFORMER

LESSON = Lesson(
    title="Hide the future",
    exercises=(FUTURE_LEAK, CAUSAL_MASK, DECODER_MASK, CAUSAL_SEQ2SEQ_TRANSFORMER),
    equivalents=EQUIVALENTS,
)
