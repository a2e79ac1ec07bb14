"""Lesson 02: characters become ids, ids become tensors, and frequent pairs become longer tokens."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_02.exercises.clinic import ROUND_TRIPS
from lessons.lesson_02.exercises.cutting import APPLY_MERGES, BYTE_PAIR_DECODE
from lessons.lesson_02.exercises.decoding import DECODE
from lessons.lesson_02.exercises.encoding import ENCODE
from lessons.lesson_02.exercises.equivalents import EQUIVALENTS
from lessons.lesson_02.exercises.example import PREPARE_EXAMPLE
from lessons.lesson_02.exercises.ids import BYTE_PAIR_IDS, BYTE_PAIR_VOCABULARY
from lessons.lesson_02.exercises.ids_back import IDS_TO_TEXT
from lessons.lesson_02.exercises.learning import BYTE_PAIR_MERGES
from lessons.lesson_02.exercises.padding import PAD_SEQUENCES
from lessons.lesson_02.exercises.vocabulary import BUILD_VOCABULARY

LESSON = Lesson(
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
        BYTE_PAIR_VOCABULARY,
        BYTE_PAIR_IDS,
        IDS_TO_TEXT,
        ROUND_TRIPS,
    ),
    equivalents=EQUIVALENTS,
)
