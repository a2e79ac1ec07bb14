"""`perplexity`: how it is tried, on the cases of the loss."""

from __future__ import annotations

from dataclasses import replace

import torch

from grader.authoring.aspects import any_numbers, shape, untouched, values
from grader.authoring.spec import Case, Observation, Trial
from lessons.lesson_04.sequence_cross_entropy import ANYWHERE, EXTREME, NOTHING, OTHER_ID, PADDING, SMALLEST, cases


def as_tensor(observation: Observation, case: Case) -> Observation:
    """A Python float will do for a measure; a tensor has to keep the dtype."""
    output = observation["output"]
    if isinstance(output, int | float) and not isinstance(output, bool):
        output = torch.tensor(output, dtype=case.inputs["logits"].dtype)
    return {**observation, "output": output}


TRIAL = Trial(
    module="course.sequences",
    points=1,
    cases=cases,
    canonical=as_tensor,
    aspects=(
        shape(),
        values(),
        replace(PADDING, keys=("output",), weight=3.0),
        *(replace(each, keys=("output",)) for each in (ANYWHERE, OTHER_ID, SMALLEST, EXTREME)),
        *any_numbers(),
        NOTHING,
        untouched(),
    ),
)
