"""Lesson 04: an encoder that reads, a decoder that writes, and how to count what came out."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_04.exercises.accuracy import TOKEN_ACCURACY
from lessons.lesson_04.exercises.block import DECODER_BLOCK
from lessons.lesson_04.exercises.crossing import CROSS_ATTENTION
from lessons.lesson_04.exercises.equivalents import EQUIVALENTS
from lessons.lesson_04.exercises.influence import ENCODER_INFLUENCE
from lessons.lesson_04.exercises.loss import SEQUENCE_CROSS_ENTROPY
from lessons.lesson_04.exercises.matching import EXACT_MATCH
from lessons.lesson_04.exercises.shifting import SHIFT_RIGHT
from lessons.lesson_04.exercises.surprise import PERPLEXITY
from lessons.lesson_04.exercises.translating import SEQ2SEQ_TRANSFORMER

LESSON = Lesson(
    title="One part reads, one part writes",
    exercises=(
        SHIFT_RIGHT,
        SEQUENCE_CROSS_ENTROPY,
        PERPLEXITY,
        TOKEN_ACCURACY,
        EXACT_MATCH,
        CROSS_ATTENTION,
        DECODER_BLOCK,
        SEQ2SEQ_TRANSFORMER,
        ENCODER_INFLUENCE,
    ),
    equivalents=EQUIVALENTS,
)
