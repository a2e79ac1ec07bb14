"""`CrossAttention`: how it is tried. The probe hands the weights in by name."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from grader.authoring.aspects import (
    FLOAT64,
    LAYOUT,
    LENGTH_ONE,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    untouched,
    values,
)
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Trial
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_04.drawing import turned, with_an_empty_source

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
    width, other_width = (int(w) for w in generator.permutation([2, 7]))  # of a head; no length is the same number
    sizes = (b, t, s, heads, width)
    laid_out = layer(*sizes)
    laid_out |= {name: turned(laid_out[name]) for name in ("decoder_states", "encoder_states")}
    large = layer(*sizes)
    large["encoder_states"] *= 200
    return [
        Case.of("with five different sizes", **layer(*sizes)),
        Case.of("with other sizes", **layer(t, s, b, 2, other_width)),
        Case.of("with a padding mask", MASKS, **layer(*sizes), mask=drawing.padding(generator, b, s)),
        Case.of("with a mask for each head", MASKS, **layer(*sizes), mask=allow(b, heads, t, s)),
        Case.of("with heads that share a mask", MASKS, **layer(*sizes), mask=allow(b, 1, t, s)),
        Case.of("with one mask for the batch", MASKS, **layer(*sizes), mask=allow(t, s)),
        Case.of(
            "where source and target are equally long",
            MASKS,
            **layer(b, t, t, heads, width),
            mask=allow(b, heads, t, t),
        ),
        Case.of("with one head", LENGTH_ONE, **layer(b, t, s, 1, 5), mask=allow(b, 1, t, s)),
        Case.of("with heads of width one", LENGTH_ONE, **layer(b, t, s, heads, 1)),
        Case.of("on a batch of one, with one target token", LENGTH_ONE, **layer(1, 1, s, heads, width)),
        Case.of("with a single source token", LENGTH_ONE, **layer(b, t, 1, heads, width)),
        Case.of("with very large scores", LARGE, **large, mask=allow(b, heads, t, s)),
        Case.of("with a source that is all padding", EMPTY, **layer(*sizes), mask=with_an_empty_source(b, s)),
        Case.of("with float64", FLOAT64, **layer(*sizes, kind=torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="course.seq2seq",
    points=3,
    cases=cases,
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        MASKS,
        LENGTH_ONE,
        LARGE,
        EMPTY,
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
)
