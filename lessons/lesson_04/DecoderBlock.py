"""`DecoderBlock`: how it is tried. The probe hands the weights in by name; lesson 8 tries its layer on these cases."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from grader.authoring.aspects import FLOAT64, dtype, gradients, modes, parts, shape, untouched, values
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Observation, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.attending import leave_open
from lessons.drawing import Inputs
from lessons.lesson_04.drawing import turned, with_an_empty_source

SELF_MASK = special("self_mask", weight=2.0, meaning="The self-attention follows self_mask.")
ENCODER_MASK = special("encoder_mask", weight=2.0, meaning="The cross-attention follows encoder_mask.")
LENGTH_ONE = special("axes of length one", "one")
EMPTY = special("a source that is all padding", "empty", 0.5)


def cases(generator: np.random.Generator) -> list[Case]:
    def block(b: int, t: int, s: int, heads: int, d_head: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = drawing.attention(generator, "self_attention", d_model, kind)
        weights |= drawing.attention(generator, "cross_attention", d_model, kind)
        weights |= drawing.feed_forward(generator, "feed_forward", d_model, d_ff, kind)
        for name in ("norm1", "norm2", "norm3"):
            weights |= drawing.norm(generator, name, d_model, kind)
        return {
            "num_heads": heads,
            "d_ff": d_ff,
            "x": 1 + 2 * normal(generator, b, t, d_model, dtype=kind),
            "encoder_states": 2 * normal(generator, b, s, d_model, dtype=kind) - 1,
            "weights": weights,
        }

    allow = partial(drawing.mask, generator)
    b, t, s, heads = dims(generator, 4, 3, 6)
    d_ff = int(generator.integers(20, 25))
    sizes = (b, t, s, heads, 2, d_ff)
    square = {"self_mask": allow(b, heads, t, t), "encoder_mask": allow(b, 1, t, t)}
    triangle = torch.ones(t, t, dtype=torch.bool).tril()
    as_used = {"self_mask": triangle, "encoder_mask": drawing.padding(generator, b, s)}
    laid_out = block(b, t, t, heads, 2, d_ff)
    laid_out |= {name: turned(laid_out[name]) for name in ("x", "encoder_states")}
    both = (SELF_MASK, ENCODER_MASK)
    return [
        Case.of("without masks", **block(*sizes)),
        Case.of("where source and target are equally long, and not contiguous", **laid_out),
        Case.of("with a self_mask alone", SELF_MASK, **block(*sizes), self_mask=triangle),
        Case.of("with both masks, source and target equally long", *both, **block(b, t, t, heads, 2, d_ff), **square),
        Case.of("with masks as the model will use them", *both, **block(*sizes), **as_used),
        Case.of("on a batch of one, with one head and one target token", LENGTH_ONE, **block(1, 1, s, 1, 4, d_ff)),
        Case.of("with a single source token", LENGTH_ONE, **block(b, t, 1, heads, 2, d_ff)),
        Case.of("with a source that is all padding", EMPTY, **block(*sizes), encoder_mask=with_an_empty_source(b, s)),
        Case.of("with float64", FLOAT64, **block(*sizes, kind=torch.float64)),
    ]


def where_answered(observation: Observation, case: Case) -> Observation:
    """Where a mask allows nothing, any finite numbers will do."""
    return leave_open(observation, case.inputs.get("self_mask"), case.inputs.get("encoder_mask"))


TRIAL = Trial(
    module="course.seq2seq",
    points=3,
    cases=cases,
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        SELF_MASK,
        ENCODER_MASK,
        LENGTH_ONE,
        EMPTY,
        dtype(),
        FLOAT64,
        modes(),
        untouched(),
    ),
)
