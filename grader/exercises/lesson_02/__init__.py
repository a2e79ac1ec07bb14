"""Lesson 02: characters become ids, ids become tensors, and frequent pairs become longer tokens."""

from __future__ import annotations

from grader.exercises.lesson_02.clinic import ROUND_TRIPS
from grader.exercises.lesson_02.cutting import APPLY_MERGES, BYTE_PAIR_DECODE
from grader.exercises.lesson_02.decoding import DECODE
from grader.exercises.lesson_02.encoding import ENCODE
from grader.exercises.lesson_02.equivalents import EQUIVALENTS
from grader.exercises.lesson_02.example import PREPARE_EXAMPLE
from grader.exercises.lesson_02.learning import BYTE_PAIR_MERGES
from grader.exercises.lesson_02.padding import PAD_SEQUENCES
from grader.exercises.lesson_02.vocabulary import BUILD_VOCABULARY
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="02_tokenizer",
    title="Text in, numbers out",
    exercises=(
        BUILD_VOCABULARY,
        ENCODE,
        DECODE,
        PAD_SEQUENCES,
        PREPARE_EXAMPLE,
        BYTE_PAIR_MERGES,
        APPLY_MERGES,
        BYTE_PAIR_DECODE,
        ROUND_TRIPS,
    ),
    equivalents=EQUIVALENTS,
)
