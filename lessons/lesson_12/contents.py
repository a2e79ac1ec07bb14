"""Lesson 12: the encoder of lesson 3, unchanged, reads film reviews, forecasts series and looks at pictures."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_12.exercises.clinic import LOOKS_AHEAD
from lessons.lesson_12.exercises.counting import BAG_OF_WORDS
from lessons.lesson_12.exercises.cutting import PATCHIFY
from lessons.lesson_12.exercises.equivalents import EQUIVALENTS
from lessons.lesson_12.exercises.forecasting import FORECASTER
from lessons.lesson_12.exercises.pooling import MASKED_MEAN
from lessons.lesson_12.exercises.seeing import VISION_TRANSFORMER
from lessons.lesson_12.exercises.series import SEASONAL_NAIVE, WINDOWS

LESSON = Lesson(
    title="Beyond language",
    exercises=(
        BAG_OF_WORDS,
        MASKED_MEAN,
        SEASONAL_NAIVE,
        WINDOWS,
        FORECASTER,
        LOOKS_AHEAD,
        PATCHIFY,
        VISION_TRANSFORMER,
    ),
    equivalents=EQUIVALENTS,
)
