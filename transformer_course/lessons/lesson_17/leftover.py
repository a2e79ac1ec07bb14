"""`leftover`: how it is tried."""

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_17.drawing import chances, with_zeros

EQUAL = aspects.special(
    "equal rows", weight=2.0, meaning="Where both rows are equal, the result is the target's row, beside others too."
)
AXES = aspects.special("any number of axes", meaning="A single row is right too, and so are rows with several axes.")
ZERO = aspects.special("tokens without a chance", meaning="Tokens that target or draft rule out are dealt with too.")
SCALED = aspects.special("rows nearly equal", meaning="However little is left over, the row still sums to 1.")


def cases(generator: np.random.Generator) -> list[Case]:
    def pair(*shape: int, dtype: torch.dtype = torch.float32) -> Inputs:
        rows = [one_pair(shape[-1]) for _ in range(int(np.prod(shape[:-1])))]
        target, draft = (torch.stack(part).reshape(shape).to(dtype) for part in zip(*rows, strict=True))
        return {"target": target, "draft": draft}

    def one_pair(v: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A row of each: something is left over, for two tokens or more."""
        while True:
            target, draft = (chances(generator, v, dtype=torch.float64) for _ in range(2))
            beyond = (target - draft).clamp(min=0)
            if float(beyond.sum()) > 0.15 and int((beyond > 0).sum()) > 1:
                return target, draft

    b, n, v = dims(generator, 3, 4, 7)
    side = int(generator.integers(4, 6))
    mixed, ruled_out, close = pair(b, v), pair(b, v), chances(generator, b, v)
    mixed["draft"][1] = mixed["target"][1]
    tokens = [int(token) for token in generator.permutation(v)]
    ruled_out["target"] = with_zeros(ruled_out["target"], tokens[0])
    ruled_out["draft"] = with_zeros(ruled_out["draft"], tokens[1])
    moved = close.clone()
    moved[:, 0] += 2.0**-10
    moved[:, 1] -= 2.0**-10
    return [
        Case.of("on a few rows", **pair(b, v)),
        Case.of("where there are as many rows as tokens", **pair(side, side)),
        Case.of("on a single row, without a batch", AXES, **pair(v)),
        Case.of("on rows with two leading axes", AXES, **pair(b, n, v)),
        Case.of("where one row of several is equal", EQUAL, **mixed),
        Case.of("where both are equal", EQUAL, target=close, draft=close.clone()),
        Case.of("where each rules out a token", ZERO, **ruled_out),
        Case.of("where the two are nearly equal", SCALED, target=moved.double(), draft=close.double()),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **pair(1, v)),
        Case.of("with float64", aspects.FLOAT64, **pair(b, v, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(pair(b, v))),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """Where some numbers are negative, it doesn't matter what they were divided by."""
    output, target = observation.get("output"), case.inputs["target"]
    if isinstance(output, torch.Tensor) and output.shape == target.shape and bool((output < 0).any()):
        return {**observation, "output": "negative numbers among them"}
    return observation


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=2,
    cases=cases,
    canonical=canonical,
    aspects=(
        aspects.shape(),
        aspects.values(8.0),
        AXES,
        EQUAL,
        ZERO,
        SCALED,
        aspects.BATCH_OF_ONE,
        aspects.dtype(),
        aspects.FLOAT64,
        aspects.LAYOUT,
        aspects.untouched(),
    ),
)
