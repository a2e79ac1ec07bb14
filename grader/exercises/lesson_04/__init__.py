"""Lesson 04: an encoder that reads, a decoder that writes, and how to count what came out."""

from __future__ import annotations

import numpy as np

from course.seq2seq import Seq2SeqTransformer
from grader.exercises.aspects import USUAL, values
from grader.exercises.draw import integers, normal
from grader.exercises.lesson_04.accuracy import TOKEN_ACCURACY
from grader.exercises.lesson_04.block import DECODER_BLOCK
from grader.exercises.lesson_04.crossing import CROSS_ATTENTION
from grader.exercises.lesson_04.influence import ENCODER_INFLUENCE
from grader.exercises.lesson_04.loss import SEQUENCE_CROSS_ENTROPY
from grader.exercises.lesson_04.matching import EXACT_MATCH
from grader.exercises.lesson_04.shifting import SHIFT_RIGHT
from grader.exercises.lesson_04.surprise import PERPLEXITY
from grader.exercises.spec import Case, Exercise, Lesson


def _states(generator: np.random.Generator) -> list[Case]:
    inputs = {"decoder_states": normal(generator, 3, 4, 8), "encoder_states": normal(generator, 3, 5, 8)}
    return [Case("with three rows", {"sizes": [8, 2, 16], **inputs}, USUAL)]


def _tokens(generator: np.random.Generator) -> list[Case]:
    inputs = {"source": integers(generator, 1, 9, 3, 5), "target_input": integers(generator, 1, 9, 3, 4)}
    return [Case("with three rows", {"sizes": [11, 6, 8, 2, 16, 1], **inputs}, USUAL)]


def _toys(generator: np.random.Generator) -> list[Case]:
    inputs = {"source": integers(generator, 1, 9, 3, 5), "target_input": integers(generator, 1, 9, 3, 4)}
    return [
        Case("with a deaf model", {"model": "deaf", **inputs}, USUAL),
        Case("with a model that listens", {"model": "listens", **inputs}, USUAL),
    ]


def _exercise(symbol: str, points: int, cases: object, reference: object) -> Exercise:
    return Exercise(
        symbol=symbol,
        points=points,
        cases=cases,  # type: ignore[arg-type]
        references=(reference,),
        aspects=(values(),),
        mistakes=(),
        variants={},
    )


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
        _exercise("Seq2SeqTransformer", 4, _tokens, Seq2SeqTransformer),
        ENCODER_INFLUENCE,
    ),
)
