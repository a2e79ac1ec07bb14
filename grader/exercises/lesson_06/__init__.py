"""Lesson 06: where a token stands, as waves, as a rotation, and as a test that it counts."""

from __future__ import annotations

from grader.exercises.lesson_06.clinic import SEES_ORDER
from grader.exercises.lesson_06.equivalents import EQUIVALENTS
from grader.exercises.lesson_06.module import MODULE
from grader.exercises.lesson_06.rotary import ROTARY
from grader.exercises.lesson_06.scores import SCORES
from grader.exercises.lesson_06.shifting import SHIFT
from grader.exercises.lesson_06.waves import SINUSOIDS
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="06_positional_encodings",
    title="Where a token stands",
    exercises=(SINUSOIDS, SHIFT, MODULE, ROTARY, SCORES, SEES_ORDER),
    equivalents=EQUIVALENTS,
)
