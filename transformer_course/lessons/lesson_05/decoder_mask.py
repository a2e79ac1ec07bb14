"""`decoder_mask`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged, turned
from transformer_course.lessons.lesson_05.openings import CALLED, SEEN, of_a_mask

ANYWHERE = special("padding anywhere in a row")
PAD_ID = special("another pad_id")
ONE = special("a batch of one, a row of one")
EMPTY = special("a row that is all padding", meaning="A row of nothing but padding gets the right mask too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int) -> dict[str, Any]:
        return {"targets": draw_tokens(generator, ragged(generator, batch, length), length, 9)}

    batch, length = dims(generator, 2, 3, 7)
    other, long = dims(generator, 2, 3, 7)
    pad_id = int(generator.integers(2, 8))
    renamed = draw_tokens(generator, ragged(generator, batch, length), length, 9, pad_id)
    renamed[:, 0] = 0  # a real token
    front = draw(batch, length)["targets"].flip(1)
    gap = draw_tokens(generator, [length] * batch, length, 9)
    gap[0, 1], gap[1, 0] = 0, 0
    return [
        Case.of("with rows of different lengths", **draw(batch, length)),
        Case.of("with another batch", **draw(other, long)),
        Case.of("with as many rows as tokens", **draw(4, 4)),
        Case.of("with padding on the left", ANYWHERE, targets=front),
        Case.of("with padding between tokens", ANYWHERE, targets=gap),
        Case.of("where pad_id is not 0, and 0 is a token", PAD_ID, targets=renamed, pad_id=pad_id),
        Case.of("on a batch of one", ONE, **draw(1, length)),
        Case.of("with rows of one token", ONE, **draw(batch, 1)),
        Case.of("with a row that is all padding", EMPTY, targets=draw_tokens(generator, [length, 0, 1], length, 9)),
        Case.of("with targets that are not contiguous", targets=turned(draw(batch, length)["targets"])),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """The mask, and in words what it opens or hides where it shouldn't."""
    targets = case.inputs["targets"]
    real = targets != case.inputs.get("pad_id", 0)
    length = targets.shape[1]
    right = real[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
    return {SEEN: of_a_mask(observation["output"], right, real), **observation}


TRIAL = Trial(
    module="transformer_course.causal",
    points=2,
    cases=cases,
    canonical=canonical,
    called=CALLED,
    aspects=aspects.with_words(
        (
            aspects.shape(),
            aspects.values(),
            ANYWHERE,
            PAD_ID,
            ONE,
            EMPTY,
            aspects.dtype("booleans", 2.0, "The entries are True and False."),
            aspects.untouched(),
        ),
        SEEN,
        "values",
        ANYWHERE.name,
        PAD_ID.name,
    ),
)
