"""Lesson 05: the leak, measured before it is closed, and the mask that closes it."""

from __future__ import annotations

import numpy as np

from course.causal import CausalSeq2SeqTransformer
from grader.exercises.aspects import USUAL, values
from grader.exercises.draw import integers
from grader.exercises.lesson_05.leak import FUTURE_LEAK
from grader.exercises.lesson_05.masks import CAUSAL_MASK, DECODER_MASK
from grader.exercises.spec import Case, Exercise, Lesson


def _tokens(generator: np.random.Generator) -> list[Case]:
    inputs = {"source": integers(generator, 1, 9, 3, 5), "target_input": integers(generator, 1, 9, 3, 4)}
    return [Case("with three rows", {"sizes": [11, 6, 8, 2, 16, 1], **inputs}, USUAL)]


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
        FUTURE_LEAK,
        CAUSAL_MASK,
        DECODER_MASK,
        _exercise("CausalSeq2SeqTransformer", 3, _tokens, CausalSeq2SeqTransformer),
    ),
)
