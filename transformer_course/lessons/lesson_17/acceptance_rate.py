"""`acceptance_rate`: how it is tried."""

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_17.drawing import chances, with_zeros

EQUAL = aspects.special("equal rows", meaning="Where target and draft are equal, every proposed token is accepted.")
NEVER = aspects.special(
    "tokens that are never proposed",
    meaning="A token to which the draft gives no probability adds nothing, whatever the target gives it.",
)
AXES = aspects.special("any number of axes", meaning="A single row is right too, and so are rows with several axes.")


def cases(generator: np.random.Generator) -> list[Case]:
    def pair(*shape: int, dtype: torch.dtype = torch.float32) -> Inputs:
        while True:
            target, draft = (chances(generator, *shape, dtype=dtype) for _ in range(2))
            if bool(((target - draft).abs().sum(-1) > 0.3).all()):
                return {"target": target, "draft": draft}

    b, n, v = dims(generator, 3, 3, 7)
    side = int(generator.integers(4, 6))
    ruled_out, same = pair(b, v + 3), pair(b, v)["target"]
    tokens = [int(token) for token in generator.permutation(v + 3)]
    ruled_out = {
        "target": with_zeros(ruled_out["target"], tokens[0], tokens[1]),
        "draft": with_zeros(ruled_out["draft"], tokens[1], tokens[2]),
    }
    apart = pair(b, v + 3)
    apart = {
        "target": with_zeros(apart["target"], *tokens[1 : 1 + len(tokens) // 2]),
        "draft": with_zeros(apart["draft"], *tokens[1 + len(tokens) // 2 :]),
    }
    return [
        Case.of("on a few rows", **pair(b, v)),
        Case.of("where there are as many rows as tokens", **pair(side, side)),
        Case.of("on a single row, without a batch", AXES, **pair(v)),
        Case.of("on rows with two leading axes", AXES, **pair(b, n, v)),
        Case.of("where both are equal", EQUAL, target=same, draft=same.clone()),
        Case.of("where the two have one token in common", NEVER, **apart),
        Case.of("where the draft rules out some tokens", NEVER, **ruled_out),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **pair(1, v)),
        Case.of("with float64", aspects.FLOAT64, **pair(b, v, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(pair(b, v))),
    ]


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=1,
    cases=cases,
    aspects=(
        aspects.shape(),
        aspects.values(6.0),
        AXES,
        EQUAL,
        NEVER,
        aspects.BATCH_OF_ONE,
        aspects.dtype(),
        aspects.FLOAT64,
        aspects.LAYOUT,
        aspects.untouched(),
    ),
)
