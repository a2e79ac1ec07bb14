"""Lesson 05: the leak, measured before it is closed, and the mask that closes it."""

from __future__ import annotations

import numpy as np

from course.causal import CausalSeq2SeqTransformer, causal_mask, decoder_mask, future_leak
from grader.exercises.aspects import USUAL, values
from grader.exercises.draw import integers
from grader.exercises.spec import Case, Exercise, Lesson


def _lengths(generator: np.random.Generator) -> list[Case]:
    return [Case("with a few positions", {"length": int(generator.integers(3, 7))}, USUAL)]


def _targets(generator: np.random.Generator) -> list[Case]:
    targets = integers(generator, 1, 7, 3, 5)
    targets[1, 3:] = 0
    return [Case("with padding", {"targets": targets}, USUAL)]


def _tokens(generator: np.random.Generator) -> list[Case]:
    inputs = {"source": integers(generator, 1, 9, 3, 5), "target_input": integers(generator, 1, 9, 3, 4)}
    return [Case("with three rows", {"sizes": [11, 6, 8, 2, 16, 1], **inputs}, USUAL)]


def _toys(generator: np.random.Generator) -> list[Case]:
    inputs = {"source": integers(generator, 1, 9, 3, 5), "target_input": integers(generator, 1, 9, 3, 4)}
    return [
        Case("with a model that looks back", {"model": "reads back", **inputs}, USUAL),
        Case("with a model that peeks", {"model": "peeks", **inputs}, USUAL),
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
    name="05_causal_masks",
    title="A mask that hides the future",
    exercises=(
        _exercise("future_leak", 3, _toys, future_leak),
        _exercise("causal_mask", 2, _lengths, causal_mask),
        _exercise("decoder_mask", 2, _targets, decoder_mask),
        _exercise("CausalSeq2SeqTransformer", 3, _tokens, CausalSeq2SeqTransformer),
    ),
)
