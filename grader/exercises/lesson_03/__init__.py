"""Lesson 03: from one attention layer by hand to a Transformer that names the class of a row of tokens."""

from __future__ import annotations

from grader.exercises.lesson_03.attention import SCALED_DOT_PRODUCT_ATTENTION
from grader.exercises.lesson_03.block import ENCODER_BLOCK
from grader.exercises.lesson_03.classifier import TRANSFORMER_CLASSIFIER
from grader.exercises.lesson_03.clinic import IGNORES_PADDING
from grader.exercises.lesson_03.equivalents import EQUIVALENTS
from grader.exercises.lesson_03.feed_forward import FEED_FORWARD
from grader.exercises.lesson_03.heads import MERGE_HEADS, SPLIT_HEADS
from grader.exercises.lesson_03.multi_head import MULTI_HEAD_ATTENTION
from grader.exercises.lesson_03.norm import LAYER_NORM
from grader.exercises.lesson_03.padding import PADDING_MASK
from grader.exercises.lesson_03.positions import LEARNED_POSITIONAL_EMBEDDING
from grader.exercises.lesson_03.self_attention import SELF_ATTENTION
from grader.exercises.lesson_03.softmax import MASKED_SOFTMAX
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="03_classification_transformer",
    title="A Transformer that classifies",
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
