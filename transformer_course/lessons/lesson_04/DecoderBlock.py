"""`DecoderBlock`: how it is tried. The probe hands the weights in by name; lesson 8 tries its layer on these cases."""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.modules import forward_only
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import leave_open
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN
from transformer_course.lessons.lesson_04.drawing import turned, with_an_empty_source

SELF_MASK = special("self_mask", weight=2.0, meaning="The self-attention follows self_mask.")
ENCODER_MASK = special("encoder_mask", weight=4.0, meaning="The cross-attention follows encoder_mask.")
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

    def again(label: str, masks: Inputs) -> Case:
        """A call after another one with other masks."""
        inputs = block(*sizes)
        before = [(inputs["x"], inputs["encoder_states"], triangle.mT, ~as_used["encoder_mask"])]
        return Case.of(label, AGAIN, **inputs, **masks, before=before)

    usual = [
        Case.of("without masks", **block(*sizes)),
        forward_only(Case.of("where source and target are equally long, and not contiguous", **laid_out)),
        forward_only(Case.of("with a self_mask alone", SELF_MASK, **block(*sizes), self_mask=triangle)),
        Case.of("with both masks, source and target equally long", *both, **block(b, t, t, heads, 2, d_ff), **square),
        Case.of("with masks as the model will use them", *both, **block(*sizes), **as_used),
        forward_only(
            Case.of("on a batch of one, with one head and one target token", LENGTH_ONE, **block(1, 1, s, 1, 4, d_ff))
        ),
        forward_only(Case.of("with a single source token", LENGTH_ONE, **block(b, t, 1, heads, 2, d_ff))),
        Case.of("with a source that is all padding", EMPTY, **block(*sizes), encoder_mask=with_an_empty_source(b, s)),
        forward_only(Case.of("with float64", aspects.FLOAT64, **block(*sizes, kind=torch.float64))),
    ]
    return [
        *usual,
        forward_only(again("without masks, after a call with two", {})),
        again("with other masks, after a call with two", as_used),
    ]


def where_answered(observation: Observation, case: Case) -> Observation:
    """Where a mask allows nothing, any finite numbers will do."""
    return leave_open(observation, case.inputs.get("self_mask"), case.inputs.get("encoder_mask"))


TRIAL = Trial(
    module="transformer_course.seq2seq",
    points=3,
    cases=cases,
    canonical=where_answered,
    aspects=(
        aspects.parts(),
        aspects.shape(),
        aspects.values(),
        aspects.gradients(),
        SELF_MASK,
        ENCODER_MASK,
        AGAIN,
        LENGTH_ONE,
        EMPTY,
        aspects.dtype(),
        aspects.FLOAT64,
        aspects.modes(),
        aspects.untouched(),
    ),
)
