"""Lesson 04: an encoder that reads, a decoder that writes, and how to count what came out."""

from __future__ import annotations

import numpy as np

from course.seq2seq import CrossAttention, DecoderBlock, Seq2SeqTransformer, encoder_influence
from course.sequences import exact_match, perplexity, sequence_cross_entropy, shift_right, token_accuracy
from grader.exercises.aspects import USUAL, values
from grader.exercises.draw import integers, normal
from grader.exercises.spec import Case, Exercise, Lesson


def _shift(generator: np.random.Generator) -> list[Case]:
    return [Case("with three rows", {"targets": integers(generator, 2, 9, 3, 5), "start_id": 1}, USUAL)]


def _logits(generator: np.random.Generator) -> list[Case]:
    targets = integers(generator, 1, 7, 3, 5)
    targets[1, 3:] = 0
    return [Case("with padding", {"logits": normal(generator, 3, 5, 7), "targets": targets}, USUAL)]


def _predictions(generator: np.random.Generator) -> list[Case]:
    targets = integers(generator, 1, 7, 3, 5)
    targets[1, 3:] = 0
    predictions = targets.clone()
    predictions[0, 2] += 1
    return [Case("with padding", {"predictions": predictions, "targets": targets}, USUAL)]


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
        _exercise("shift_right", 1, _shift, shift_right),
        _exercise("sequence_cross_entropy", 3, _logits, sequence_cross_entropy),
        _exercise("perplexity", 1, _logits, perplexity),
        _exercise("token_accuracy", 2, _logits, token_accuracy),
        _exercise("exact_match", 2, _predictions, exact_match),
        _exercise("CrossAttention", 3, _states, CrossAttention),
        _exercise("DecoderBlock", 3, _states, DecoderBlock),
        _exercise("Seq2SeqTransformer", 4, _tokens, Seq2SeqTransformer),
        _exercise("encoder_influence", 3, _toys, encoder_influence),
    ),
)
