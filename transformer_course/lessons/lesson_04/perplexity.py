"""`perplexity`: how it is tried, on the cases of the loss."""

from dataclasses import replace

import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from transformer_course.lessons.lesson_04.sequence_cross_entropy import (
    ANYWHERE,
    EXTREME,
    NOTHING,
    OTHER_ID,
    PADDING,
    SMALLEST,
    cases,
)


def as_tensor(observation: Observation, case: Case) -> Observation:
    """A Python float will do for a measure; a tensor has to keep the dtype."""
    output = observation["output"]
    if isinstance(output, int | float) and not isinstance(output, bool):
        output = torch.tensor(output, dtype=case.inputs["logits"].dtype)
    return {**observation, "output": output}


TRIAL = Trial(
    module="transformer_course.sequences",
    points=1,
    cases=cases,
    canonical=as_tensor,
    aspects=(
        aspects.shape(),
        aspects.values(),
        replace(PADDING, keys=("output",), weight=10.0),
        *(replace(each, keys=("output",)) for each in (ANYWHERE, OTHER_ID, SMALLEST, EXTREME)),
        *aspects.any_numbers(),
        NOTHING,
        aspects.untouched(),
    ),
)
