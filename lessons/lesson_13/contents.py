"""Lesson 13: an adder that has seen sums of five digits, and the ways to make it add a hundred."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_13.exercises.equivalents import EQUIVALENTS
from lessons.lesson_13.exercises.hints import INDEX_HINTS
from lessons.lesson_13.exercises.offsets import RANDOM_OFFSET_POSITIONS
from lessons.lesson_13.exercises.places import DIGIT_POSITIONS
from lessons.lesson_13.exercises.windows import WINDOWED_MASK

LESSON = Lesson(
    title="Length generalisation",
    exercises=(INDEX_HINTS, RANDOM_OFFSET_POSITIONS, DIGIT_POSITIONS, WINDOWED_MASK),
    equivalents=EQUIVALENTS,
)
