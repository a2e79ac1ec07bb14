"""Lesson 03: from one attention layer by hand to a Transformer that names the class of a row of tokens."""

from __future__ import annotations

from grader.authoring.spec import Lesson
from lessons.lesson_03.exercises.attention import SCALED_DOT_PRODUCT_ATTENTION
from lessons.lesson_03.exercises.block import ENCODER_BLOCK
from lessons.lesson_03.exercises.classifier import TRANSFORMER_CLASSIFIER
from lessons.lesson_03.exercises.clinic import IGNORES_PADDING
from lessons.lesson_03.exercises.equivalents import EQUIVALENTS
from lessons.lesson_03.exercises.feed_forward import FEED_FORWARD
from lessons.lesson_03.exercises.heads import MERGE_HEADS, SPLIT_HEADS
from lessons.lesson_03.exercises.multi_head import MULTI_HEAD_ATTENTION
from lessons.lesson_03.exercises.norm import LAYER_NORM
from lessons.lesson_03.exercises.padding import PADDING_MASK
from lessons.lesson_03.exercises.positions import LEARNED_POSITIONAL_EMBEDDING
from lessons.lesson_03.exercises.self_attention import SELF_ATTENTION
from lessons.lesson_03.exercises.softmax import MASKED_SOFTMAX

LESSON = Lesson(
    title="Who looks at whom",
    exercises=(
        MASKED_SOFTMAX,
        SCALED_DOT_PRODUCT_ATTENTION,
        SELF_ATTENTION,
        FEED_FORWARD,
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
