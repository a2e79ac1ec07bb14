"""`EncoderLayer`: how it is tried. The cases are those of lesson 3's block, in both orders of norms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cellcheck.authoring.aspects import LENGTH_ONE, any_numbers, gradients, modes, parts, shape, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.attending import where_answered
from transformer_course.lessons.lesson_03.EncoderBlock import BROADCAST, EMPTY
from transformer_course.lessons.lesson_03.EncoderBlock import TRIAL as ENCODER_BLOCK
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

DROPPING, DROPPED = dropping("attention", "feed_forward")


def cases(generator: np.random.Generator) -> list[Case]:
    # What is kept from call to call has a look of its own.
    cases = with_gradients([case for case in ENCODER_BLOCK.cases(generator) if "before" not in case.inputs])
    pre_norm = in_pre_norm(cases[:4])
    return [
        *forward_only(cases, BROADCAST.tags, EMPTY.tags),
        *pre_norm[:2],
        *forward_only(pre_norm[2:]),
        *looks(cases[0]),
    ]


TRIAL = Trial(
    module="transformer_course.paper.layers",
    points=2,
    cases=cases,
    canonical=where_answered,
    called=CALLED | DROPPED,
    aspects=(
        parts(),
        shape(),
        VALUES,
        gradients(),
        *(replace(special, keys=("wiring", "output")) for special in (BROADCAST, LENGTH_ONE, EMPTY)),
        PRE_NORM,
        *DROPPING,
        *(replace(one, keys=("wiring", *one.keys)) if one.keys == ("output",) else one for one in any_numbers(0.5)),
        LATER_CALLS,
        STARTS,
        modes(),
        untouched(),
    ),
)
