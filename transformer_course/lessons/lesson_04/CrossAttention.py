"""`CrossAttention`: how it is tried. The probe hands the weights in by name."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.modules import forward_only
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN
from transformer_course.lessons.lesson_04 import attended
from transformer_course.lessons.lesson_04.drawing import turned, with_an_empty_source

MASKS = special("masks", weight=3.0, meaning="A mask hides the right source tokens, whatever shape it has.")
LARGE = special("large scores", weight=0.5)
EMPTY = special("a source that is all padding")


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, t: int, s: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "decoder_states": normal(generator, b, t, d_model, dtype=kind),
            "encoder_states": normal(generator, b, s, d_model, dtype=kind),
            "weights": drawing.attention(generator, "", d_model, kind),
        }

    allow = partial(drawing.mask, generator)
    b, t, s, heads = dims(generator, 4, 3, 6)
    if s == 3:  # there is one way to pad three tokens, and a mask that is the first row's for all must show
        t, s = s, t
    width, other_width = (int(w) for w in generator.permutation([2, 7]))  # of a head; no length is the same number
    sizes = (b, t, s, heads, width)
    laid_out = layer(*sizes)
    laid_out |= {name: turned(laid_out[name]) for name in ("decoder_states", "encoder_states")}
    large = layer(*sizes)
    large["encoder_states"] *= 200

    def again(label: str, mask: torch.Tensor | None) -> Case:
        """A call after another one, with another source and another mask."""
        inputs = layer(*sizes)
        other = normal(generator, b, s, heads * width)
        before = [(inputs["decoder_states"], other, drawing.padding(generator, b, s) if mask is None else ~mask)]
        return Case.of(label, AGAIN, **inputs, **({} if mask is None else {"mask": mask}), before=before)

    usual = [
        Case.of("with five different sizes", **layer(*sizes)),
        forward_only(Case.of("with other sizes", **layer(t, s, b, 2, other_width))),
        Case.of("with a padding mask", MASKS, **layer(*sizes), mask=drawing.padding(generator, b, s)),
        forward_only(Case.of("with a mask for each head", MASKS, **layer(*sizes), mask=allow(b, heads, t, s))),
        forward_only(Case.of("with heads that share a mask", MASKS, **layer(*sizes), mask=allow(b, 1, t, s))),
        Case.of("with one mask for the batch", MASKS, **layer(*sizes), mask=allow(t, s)),
        Case.of(
            "where source and target are equally long",
            MASKS,
            **layer(b, t, t, heads, width),
            mask=allow(b, heads, t, t),
        ),
        forward_only(Case.of("with one head", aspects.LENGTH_ONE, **layer(b, t, s, 1, 5), mask=allow(b, 1, t, s))),
        forward_only(Case.of("with heads of width one", aspects.LENGTH_ONE, **layer(b, t, s, heads, 1))),
        forward_only(
            Case.of("on a batch of one, with one target token", aspects.LENGTH_ONE, **layer(1, 1, s, heads, width))
        ),
        forward_only(Case.of("with a single source token", aspects.LENGTH_ONE, **layer(b, t, 1, heads, width))),
        Case.of("with very large scores", LARGE, **large, mask=allow(b, heads, t, s)),
        Case.of("with a source that is all padding", EMPTY, **layer(*sizes), mask=with_an_empty_source(b, s)),
        forward_only(Case.of("with float64", aspects.FLOAT64, **layer(*sizes, kind=torch.float64))),
        forward_only(Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out)),
    ]
    return [
        *usual,
        again("with no mask, after a call with one", None),
        forward_only(again("with another mask, after a call with one", drawing.padding(generator, b, s))),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """What is answered, and in words how the layer attends where it does so otherwise than asked.

    The usual cases are enough for that, and those in which a mask hides something in every row.
    """
    try:
        answered = where_answered(observation, case)
    except RuntimeError:  # weights of another shape
        answered = observation
    looked_at = case.tags >= aspects.USUAL or case.tags >= MASKS.tags
    return attended.in_words(answered, case) if looked_at else answered


TRIAL = Trial(
    module="transformer_course.seq2seq",
    points=3,
    cases=cases,
    canonical=canonical,
    called=attended.CALLED,
    aspects=(
        *aspects.of_module(
            replace(MASKS, keys=(attended.MASK, *MASKS.keys)),
            AGAIN,
            aspects.LENGTH_ONE,
            LARGE,
            EMPTY,
            returned=[attention_weights()],
        ),
        *attended.SPOKEN,
    ),
)
