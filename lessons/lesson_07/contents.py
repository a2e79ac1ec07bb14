"""Lesson 07: text, one token at a time: greedy, sampled, several answers side by side, and with a cache."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_07.exercises.beam import BEAM
from lessons.lesson_07.exercises.best import BEST_OF_N
from lessons.lesson_07.exercises.cache import CACHE
from lessons.lesson_07.exercises.cached import CACHED
from lessons.lesson_07.exercises.clinic import ENDS_EACH
from lessons.lesson_07.exercises.equivalents import EQUIVALENTS
from lessons.lesson_07.exercises.generating import GENERATE
from lessons.lesson_07.exercises.greedy import GREEDY
from lessons.lesson_07.exercises.stepping import STEP
from lessons.lesson_07.exercises.temperature import SAMPLE
from lessons.lesson_07.exercises.top_k import TOP_K
from lessons.lesson_07.exercises.top_p import TOP_P

LESSON = Lesson(
    title="One token at a time",
    exercises=(GREEDY, SAMPLE, TOP_K, TOP_P, GENERATE, ENDS_EACH, BEAM, BEST_OF_N, CACHE, CACHED, STEP),
    equivalents=EQUIVALENTS,
)
