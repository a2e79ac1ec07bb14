"""`padding_mask`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, integers, strided
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.watching import AS_ASKED

ANYWHERE = special("padding anywhere in a row", weight=20.0)
PAD_ID = special("another pad_id", weight=20.0)
ONE = special("a batch of one, a single token", weight=3.0)
ALL = special("all padding, or none", meaning="Rows that are all padding, and rows without any, get the right mask.")


def cases(generator: np.random.Generator) -> list[Case]:
    def rows(batch: int, length: int, pad_id: int = 0) -> torch.Tensor:
        """Ids from 0 to 19 with padding on the right, another amount in each row."""
        ids = integers(generator, 0, 20, batch, length)
        ids[ids == pad_id] = 20
        ids[0, 0] = 20 if pad_id == 0 else 0
        real = drawing.padding(generator, batch, length)[:, 0, 0]
        return torch.where(real, ids, pad_id)

    b, n = dims(generator, 2, 4, 7)  # with fewer than four tokens, all rows would have the same padding
    side = int(generator.integers(4, 6))
    pad_id = int(generator.integers(3, 9))
    scattered = integers(generator, 1, 20, b, n)
    scattered[drawing.mask(generator, b, n)] = 0
    whole = integers(generator, 1, 20, b, n)
    whole[0] = 0

    def other(batch: int, length: int) -> Inputs:
        return {"tokens": rows(batch, length, pad_id), "pad_id": pad_id}

    return [
        Case.of("with padding on the right", tokens=rows(b, n)),
        Case.of("with more rows than tokens", tokens=rows(n + 2, n)),
        Case.of("with as many rows as tokens", tokens=rows(side, side)),
        Case.of("with padding anywhere in a row", ANYWHERE, tokens=scattered),
        Case.of("with another pad_id", PAD_ID, **other(b, n)),
        Case.of("with another pad_id, on other sizes", PAD_ID, **other(n, b)),
        Case.of("on a batch of one", ONE, tokens=rows(1, n)),
        Case.of("with a single token", ONE, tokens=integers(generator, 0, 2, b, 1)),
        Case.of("with a row of padding alone, and rows without", ALL, tokens=whole),
        Case.of("with tokens that are not contiguous", aspects.LAYOUT, tokens=strided(rows(b, n))),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The mask, and which padding it hides, where that may be anywhere."""
    if "output" not in observation or not case.tags >= ANYWHERE.tags:
        return observation
    return {"hidden": _hidden(observation["output"], **case.inputs), **observation}


def _hidden(output: Any, tokens: torch.Tensor) -> str:
    real = tokens != 0
    if not isinstance(output, torch.Tensor) or output.numel() != real.numel():
        return AS_ASKED
    seen = output.reshape(real.shape) != 0
    at_the_end = real.flip(-1).cummax(-1).values.flip(-1)
    if torch.equal(seen, at_the_end) and not torch.equal(real, at_the_end):
        return "Only the padding at the end of a row is hidden. Where may padding be?"
    at_the_start = real.cummax(-1).values
    if torch.equal(seen, at_the_start) and not torch.equal(real, at_the_start):
        return "Only the padding at the start of a row is hidden. Where may padding be?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.attention",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"hidden": "which padding is hidden"},
    aspects=(
        aspects.shape("shape (batch, 1, 1, length)", "The mask has the shape (batch, 1, 1, length)."),
        aspects.values(),
        aspects.dtype("boolean", 5.0, meaning="The entries are True and False."),
        aspects.worded(ANYWHERE, "hidden"),
        PAD_ID,
        ONE,
        ALL,
        replace(aspects.LAYOUT, weight=0.5),
        aspects.untouched(weight=0.5),
    ),
)
