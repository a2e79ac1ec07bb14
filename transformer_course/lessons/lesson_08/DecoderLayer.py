"""`DecoderLayer`: how it is tried. The cases are those of lesson 4's block, in both orders of norms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellcheck.authoring.aspects import FLOAT64, dtype, gradients, modes, parts, shape, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_04.DecoderBlock import EMPTY, ENCODER_MASK, LENGTH_ONE, SELF_MASK
from transformer_course.lessons.lesson_04.DecoderBlock import TRIAL as DECODER_BLOCK
from transformer_course.lessons.lesson_08.layer_cases import (
    CALLED,
    LATER_CALLS,
    PRE_NORM,
    STARTS,
    VALUES,
    dropping,
    forward_only,
    in_pre_norm,
    looks,
    with_gradients,
)

DROPPING, DROPPED = dropping("self_attention", "cross_attention", "feed_forward")


def cases(generator: np.random.Generator) -> list[Case]:
    cases = with_gradients([case for case in DECODER_BLOCK.cases(generator) if "before" not in case.inputs])
    pre_norm = in_pre_norm([cases[0], cases[3], cases[4]])
    return [
        *forward_only(cases, SELF_MASK.tags | ENCODER_MASK.tags, EMPTY.tags),
        *pre_norm[:2],
        *forward_only(pre_norm[2:]),
        *looks(cases[0]),
    ]


TRIAL = Trial(
    module="transformer_course.paper.layers",
    points=2,
    cases=cases,
    canonical=DECODER_BLOCK.canonical,
    called=CALLED | DROPPED,
    aspects=(
        parts(),
        shape(),
        VALUES,
        replace(SELF_MASK, keys=("wiring", "masks", "output"), central=True),
        replace(ENCODER_MASK, keys=("wiring", "masks", "output"), central=True),
        gradients(),
        *(replace(special, keys=("wiring", "output")) for special in (LENGTH_ONE, EMPTY)),
        replace(PRE_NORM, weight=19.0),
        *DROPPING,
        dtype(),
        replace(FLOAT64, keys=("wiring", "output")),
        LATER_CALLS,
        STARTS,
        modes(),
        untouched(),
    ),
)
