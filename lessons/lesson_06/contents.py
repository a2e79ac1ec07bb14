"""Lesson 06: where a token stands, as waves, as a rotation, and as a test that it counts."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_06.exercises.clinic import SEES_ORDER
from lessons.lesson_06.exercises.equivalents import EQUIVALENTS
from lessons.lesson_06.exercises.module import MODULE
from lessons.lesson_06.exercises.rotary import ROTARY
from lessons.lesson_06.exercises.scores import SCORES
from lessons.lesson_06.exercises.shifting import SHIFT
from lessons.lesson_06.exercises.waves import SINUSOIDS

LESSON = Lesson(
    title="Where a token stands",
    exercises=(SINUSOIDS, SHIFT, MODULE, ROTARY, SCORES, SEES_ORDER),
    equivalents=EQUIVALENTS,
)
