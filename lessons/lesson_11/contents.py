"""Lesson 11: a language model as GPT had it, what has changed since, and the proof that it is the real thing."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_11.exercises.adapting import LORA_LINEAR
from lessons.lesson_11.exercises.equivalents import EQUIVALENTS
from lessons.lesson_11.exercises.models import DECODER_ONLY_TRANSFORMER, MODERN_LANGUAGE_MODEL
from lessons.lesson_11.exercises.writing import CONTINUE_TEXT

LESSON = Lesson(
    title="A language model, then and now",
    exercises=(
        DECODER_ONLY_TRANSFORMER,
        CONTINUE_TEXT,
        MODERN_LANGUAGE_MODEL,
        LORA_LINEAR,
    ),
    equivalents=EQUIVALENTS,
)
