"""Lesson 05: the leak, measured before it is closed, and the mask that closes it."""

from __future__ import annotations

from grader.exercises.lesson_05.equivalents import EQUIVALENTS
from grader.exercises.lesson_05.leak import FUTURE_LEAK
from grader.exercises.lesson_05.masks import CAUSAL_MASK, DECODER_MASK
from grader.exercises.lesson_05.translating import CAUSAL_SEQ2SEQ_TRANSFORMER
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="05_causal_masks",
    title="A mask that hides the future",
    exercises=(FUTURE_LEAK, CAUSAL_MASK, DECODER_MASK, CAUSAL_SEQ2SEQ_TRANSFORMER),
    equivalents=EQUIVALENTS,
)
