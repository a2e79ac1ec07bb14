"""Lesson 04: an encoder that reads, a decoder that writes, and how to count what came out."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_04.exercises.equivalents import EQUIVALENTS
from lessons.lesson_04.exercises.influence import ENCODER_INFLUENCE
from lessons.lesson_04.exercises.translating import SEQ2SEQ_TRANSFORMER

LESSON = Lesson(
    title="One part reads, one part writes",
    exercises=(
        SEQ2SEQ_TRANSFORMER,
        ENCODER_INFLUENCE,
    ),
    equivalents=EQUIVALENTS,
)
