"""`sequence_cross_entropy`: how it is tried."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    USUAL,
    also,
    dtype,
    gradients,
    refused,
    shape,
    untouched,
    values,
)
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import dims, with_gaps
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_04.drawing import draw_scored, ragged

FOLLOWED = ("output", "gradients")
_special = partial(special, keys=FOLLOWED)

PADDING = _special("padding counts nowhere", weight=15.0)
ANYWHERE = _special("padding anywhere in a row")
OTHER_ID = _special("another pad_id")
SMALLEST = _special("a batch of one, a row of one")
EXTREME = _special("logits of any size")
NOTHING = refused("nothing but padding is refused")


def cases(generator: np.random.Generator) -> list[Case]:
    """Logits and targets with and without padding: what a loss over real tokens is tried on."""

    def draw(batch: int, width: int, vocab: int, full: bool = False, **others: Any) -> dict[str, Any]:
        lengths = [width] * batch if full else ragged(generator, batch, width)
        return draw_scored(generator, lengths, width, vocab, **others)

    batch, width, vocab = dims(generator, 3, 3, 7)
    other, wide, many = dims(generator, 3, 3, 7)
    pad_id = int(generator.integers(2, vocab))
    # Where something else is looked at, there is no padding: a slip in counting it shows in its own cases.
    steep, high, apart = (draw(*sizes, full=True) for sizes in ((batch, width, vocab),) * 2 + ((other, wide, many),))
    # One right answer that the model thinks impossible: its probability is too small for a float32.
    steep["logits"][0, 0] = 0.0
    steep["logits"][0, 0, (int(steep["targets"][0, 0]) + 1) % vocab] = 150.0
    high["logits"] += 300 * torch.randn(batch, width, 1, generator=torch.Generator().manual_seed(batch))
    many_steep = draw(5, 7, vocab, full=True)
    many_steep["logits"].scatter_add_(-1, many_steep["targets"].unsqueeze(-1), torch.full((5, 7, 1), -6.0))
    empty_row = draw_scored(generator, [width, 0, width - 1], width, vocab)
    gap = draw_scored(generator, [width, width - 1, width - 1], width, vocab)
    gap["targets"][1] = gap["targets"][1].roll(1)  # padding in front
    gap["targets"][2, 1] = 0
    renamed = draw(4, width, vocab, pad_id=pad_id)
    renamed["targets"][renamed["targets"].ne(pad_id).all(dim=1), 0] = 0  # a real token, and no padding here
    nothing = draw(batch, width, vocab)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    return [
        Case.of("without padding", **draw(batch, width, vocab, full=True)),
        Case.of("without padding, in other sizes", **draw(other, wide, many, full=True)),
        Case.of("where batch, length and vocabulary have the same size", **draw(4, 4, 4, full=True)),
        Case.of("with padding", PADDING, **draw(batch, width, vocab)),
        Case.of("with padding, in other sizes", PADDING, **draw(other, wide, many)),
        Case.of("with a row that is all padding", PADDING, **empty_row),
        Case.of("with padding before and between the tokens", ANYWHERE, **gap),
        Case.of("where pad_id is another id, and 0 is a real token", OTHER_ID, **renamed),
        Case.of("on a batch of one, padded", SMALLEST, **draw_scored(generator, [wide - 2], wide, many)),
        Case.of("with rows of a single token", SMALLEST, **draw(batch, 1, vocab, full=True)),
        Case.of("where the model thinks a right token impossible", EXTREME, **steep),
        Case.of("where every right token is unlikely", EXTREME, **many_steep),
        Case.of("with very large logits", EXTREME, **high),
        Case.of("with float64", FLOAT64, **draw(other, wide, many, full=True, dtype=torch.float64)),
        # With gaps, but in order: the docstring doesn't say that `view` would be wrong.
        Case.of("with logits that are not contiguous", LAYOUT, **with_gaps(apart)),
        Case.of("where every target is padding", NOTHING, **nothing),
    ]


def with_its_kind(observation: Observation, case: Case) -> Observation:
    """A Python number has the right value and no gradients: it is compared as a tensor, and called what it is."""
    output = observation.get("output")
    if not isinstance(output, float):
        return {**observation, "kind": "a tensor"}
    tensor = torch.tensor(output, dtype=case.inputs["logits"].dtype)
    return {**observation, "output": tensor, "kind": "a Python number"}


TRIAL = Trial(
    module="transformer_course.sequences",
    points=3,
    cases=cases,
    probe=in_order_with_gradients(0),
    canonical=with_its_kind,
    called={"kind": "the result"},
    aspects=(
        shape(),
        also("a tensor", "kind", weight=2.0, meaning="The loss is a tensor, so that gradients can flow through it."),
        values(),
        PADDING,
        ANYWHERE,
        OTHER_ID,
        replace(gradients(), tags=USUAL),
        SMALLEST,
        EXTREME,
        dtype(),
        replace(FLOAT64, keys=FOLLOWED),
        replace(LAYOUT, keys=FOLLOWED),
        NOTHING,
        untouched(weight=2.0),
    ),
)
