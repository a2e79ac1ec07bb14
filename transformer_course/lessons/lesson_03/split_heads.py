"""`split_heads`: how it is tried. The probe is in `probes`: this module says what is right."""

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import integers, normal, with_gaps
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.heads import ASPECTS, WHOLE, in_words
from transformer_course.lessons.lesson_03.heads import CALLED as CALLED_FROM
from transformer_course.lessons.refusing import CALLED, refused

REFUSED, BY_ITS_NAME = refused("heads that don't fit are refused", weight=2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def whole(b: int, n: int, heads: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {"x": normal(generator, b, n, heads * d_head, dtype=dtype), "num_heads": heads}

    # Always three heads or more, of an even number of columns: a fixed number of heads shows.
    (heads, n), (d_head, b, _) = (generator.permutation(sizes).tolist() for sizes in ((3, 5), (2, 4, 6)))
    side = int(generator.integers(2, 4))
    laid_out = with_gaps(whole(b, n, heads, d_head))
    return [
        Case.of("with four different sizes", **whole(b, n, heads, d_head)),
        Case.of("with four other sizes", **whole(d_head, heads, n, b)),
        Case.of("where all sizes are equal", **whole(side, side, side, side)),
        Case.of("with one head", aspects.LENGTH_ONE, **whole(b, n, 1, d_head)),
        Case.of("with heads of width one", aspects.LENGTH_ONE, **whole(b, n, heads, 1)),
        Case.of("on a batch of one", aspects.LENGTH_ONE, **whole(1, n, heads, d_head)),
        Case.of("with a single token", aspects.LENGTH_ONE, **whole(b, 1, heads, d_head)),
        Case.of("with whole numbers", WHOLE, x=integers(generator, 0, 99, b, n, 6), num_heads=2),
        Case.of("with float64", aspects.FLOAT64, **whole(b, n, heads, d_head, torch.float64)),
        Case.of("with a tensor that is not contiguous", aspects.LAYOUT, **laid_out),
        # Each of these sizes lets one careless line through without an error.
        Case.of("where 2 heads don't divide 7 columns", REFUSED, **{**whole(6, 6, 1, 7), "num_heads": 2}),
        Case.of("where 4 heads don't divide 6 columns", REFUSED, **{**whole(2, 2, 1, 6), "num_heads": 4}),
    ]


TRIAL = Trial(
    module="transformer_course.attention",
    points=2,
    cases=cases,
    canonical=in_words,
    called={**CALLED, **CALLED_FROM},
    aspects=(*ASPECTS, REFUSED, BY_ITS_NAME),
)
