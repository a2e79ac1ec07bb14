"""Lesson 04: an encoder that reads, a decoder that writes, and how to count what came out."""

from __future__ import annotations

from grader.exercises.lesson_04.accuracy import TOKEN_ACCURACY
from grader.exercises.lesson_04.block import DECODER_BLOCK
from grader.exercises.lesson_04.crossing import CROSS_ATTENTION
from grader.exercises.lesson_04.equivalents import EQUIVALENTS
from grader.exercises.lesson_04.influence import ENCODER_INFLUENCE
from grader.exercises.lesson_04.loss import SEQUENCE_CROSS_ENTROPY
from grader.exercises.lesson_04.matching import EXACT_MATCH
from grader.exercises.lesson_04.shifting import SHIFT_RIGHT
from grader.exercises.lesson_04.surprise import PERPLEXITY
from grader.exercises.lesson_04.translating import SEQ2SEQ_TRANSFORMER
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="04_seq2seq_cross_attention",
    title="A decoder that reads an encoder",
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
