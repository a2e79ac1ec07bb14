"""Lesson 09: a Transformer in NumPy, with every gradient worked out by hand."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_09.exercises.adam import ADAM
from lessons.lesson_09.exercises.attending import ATTENTION_BACKWARD
from lessons.lesson_09.exercises.block import TRANSFORMER_BLOCK
from lessons.lesson_09.exercises.clinic import GRADIENT_CHECK
from lessons.lesson_09.exercises.decoder_block import DECODER_BLOCK
from lessons.lesson_09.exercises.embedding import EMBEDDING
from lessons.lesson_09.exercises.equivalents import EQUIVALENTS
from lessons.lesson_09.exercises.loss import CROSS_ENTROPY
from lessons.lesson_09.exercises.multi_head import MULTI_HEAD_ATTENTION
from lessons.lesson_09.exercises.norm import LAYER_NORM
from lessons.lesson_09.exercises.relu import RELU
from lessons.lesson_09.exercises.sgd import SGD_EXERCISE
from lessons.lesson_09.exercises.small import DROPOUT, FEED_FORWARD
from lessons.lesson_09.exercises.softmaxes import SOFTMAX, SOFTMAX_BACKWARD
from lessons.lesson_09.exercises.whole import TRANSFORMER

LESSON = Lesson(
    title="Every gradient by hand",
    exercises=(
        GRADIENT_CHECK,
        RELU,
        SOFTMAX,
        SOFTMAX_BACKWARD,
        CROSS_ENTROPY,
        SGD_EXERCISE,
        ADAM,
        EMBEDDING,
        LAYER_NORM,
        FEED_FORWARD,
        ATTENTION_BACKWARD,
        MULTI_HEAD_ATTENTION,
        TRANSFORMER_BLOCK,
        DROPOUT,
        DECODER_BLOCK,
        TRANSFORMER,
    ),
    equivalents=EQUIVALENTS,
)
