"""Lesson 07: text made one token at a time: the likeliest, by lot, several side by side, and with a memory."""

from __future__ import annotations

from grader.exercises.lesson_07.beam import BEAM
from grader.exercises.lesson_07.best import BEST_OF_N
from grader.exercises.lesson_07.cache import CACHE
from grader.exercises.lesson_07.cached import CACHED
from grader.exercises.lesson_07.clinic import ENDS_EACH
from grader.exercises.lesson_07.equivalents import EQUIVALENTS
from grader.exercises.lesson_07.greedy import GREEDY
from grader.exercises.lesson_07.temperature import SAMPLE
from grader.exercises.lesson_07.top_k import TOP_K
from grader.exercises.lesson_07.top_p import TOP_P
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="07_autoregressive_sampling",
    title="One token at a time",
    exercises=(GREEDY, SAMPLE, TOP_K, TOP_P, ENDS_EACH, BEAM, BEST_OF_N, CACHE, CACHED),
    equivalents=EQUIVALENTS,
)
