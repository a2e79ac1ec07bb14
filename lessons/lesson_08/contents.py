"""Lesson 08: the paper of 2017, section by section, and a ladder from ten sentences to real translation."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_08.exercises.decoder import DECODER
from lessons.lesson_08.exercises.decoder_layer import DECODER_LAYER
from lessons.lesson_08.exercises.encoder import ENCODER
from lessons.lesson_08.exercises.encoder_layer import ENCODER_LAYER
from lessons.lesson_08.exercises.equivalents import EQUIVALENTS
from lessons.lesson_08.exercises.feed_forward import POSITIONWISE_FEED_FORWARD
from lessons.lesson_08.exercises.transformer import TRANSFORMER

LESSON = Lesson(
    title="Attention is all you need",
    exercises=(
        POSITIONWISE_FEED_FORWARD,
        ENCODER_LAYER,
        DECODER_LAYER,
        ENCODER,
        DECODER,
        TRANSFORMER,
    ),
    equivalents=EQUIVALENTS,
)
