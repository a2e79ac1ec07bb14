"""Lesson 03: from one attention layer by hand to a Transformer that names the class of a row of tokens."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_03.exercises.block import ENCODER_BLOCK
from lessons.lesson_03.exercises.classifier import TRANSFORMER_CLASSIFIER
from lessons.lesson_03.exercises.clinic import IGNORES_PADDING
from lessons.lesson_03.exercises.equivalents import EQUIVALENTS
from lessons.lesson_03.exercises.heads import MERGE_HEADS, SPLIT_HEADS
from lessons.lesson_03.exercises.multi_head import MULTI_HEAD_ATTENTION
from lessons.lesson_03.exercises.norm import LAYER_NORM
from lessons.lesson_03.exercises.padding import PADDING_MASK
from lessons.lesson_03.exercises.positions import LEARNED_POSITIONAL_EMBEDDING

LESSON = Lesson(
    title="Who looks at whom",
    exercises=(
        LEARNED_POSITIONAL_EMBEDDING,
        SPLIT_HEADS,
        MERGE_HEADS,
        MULTI_HEAD_ATTENTION,
        PADDING_MASK,
        LAYER_NORM,
        ENCODER_BLOCK,
        TRANSFORMER_CLASSIFIER,
        IGNORES_PADDING,
    ),
    equivalents=EQUIVALENTS,
)
