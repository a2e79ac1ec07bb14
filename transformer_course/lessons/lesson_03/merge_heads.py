"""`merge_heads`: how it is tried. The probe is in `probes`: this module says what is right."""

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, integers, normal, strided
from transformer_course.lessons.lesson_03.heads import ASPECTS, CALLED, WHOLE, in_words


def cases(generator: np.random.Generator) -> list[Case]:
    def heads(b: int, h: int, n: int, d_head: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return normal(generator, b, h, n, d_head, dtype=dtype)

    b, h, n, d_head = dims(generator, 4, 2, 6)
    side = int(generator.integers(2, 4))
    crossed = normal(generator, b, n, h, d_head).transpose(1, 2)  # as split_heads may leave it
    return [
        Case.of("with four different sizes", x=heads(b, h, n, d_head)),
        Case.of("with four other sizes", x=heads(n, d_head, b, h)),
        Case.of("where all sizes are equal", x=heads(side, side, side, side)),
        Case.of("with one head", aspects.LENGTH_ONE, x=heads(b, 1, n, d_head)),
        Case.of("with heads of width one", aspects.LENGTH_ONE, x=heads(b, h, n, 1)),
        Case.of("on a batch of one", aspects.LENGTH_ONE, x=heads(1, h, n, d_head)),
        Case.of("with a single token", aspects.LENGTH_ONE, x=heads(b, h, 1, d_head)),
        Case.of("with whole numbers", WHOLE, x=integers(generator, 0, 99, b, h, n, d_head)),
        Case.of("with float64", aspects.FLOAT64, x=heads(b, h, n, d_head, torch.float64)),
        Case.of("with a tensor that is not contiguous", aspects.LAYOUT, x=strided(heads(b, h, n, d_head))),
        Case.of("with a tensor whose axes were swapped before", aspects.LAYOUT, x=crossed),
    ]


TRIAL = Trial(
    module="transformer_course.attention",
    points=1,
    cases=cases,
    canonical=in_words,
    called=CALLED,
    aspects=ASPECTS,
)
