"""`DecoderOnlyBlock`: how it is tried."""

from __future__ import annotations

import numpy as np
import torch

from grader.authoring.spec import Case, Trial
from lessons.lesson_11.blocks import ASPECTS, cases_of, probe_block
from lessons.lesson_11.drawing import classic_weights


def cases(generator: np.random.Generator) -> list[Case]:
    def weights(d_model: int, d_ff: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return classic_weights(generator, "", d_model, d_ff, dtype)

    return cases_of(generator, weights, shares_keys=False)


TRIAL = Trial(
    module="course.language_model.gpt",
    points=2,
    cases=cases,
    probe=probe_block,
    aspects=ASPECTS,
)
