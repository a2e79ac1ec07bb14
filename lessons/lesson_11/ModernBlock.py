"""`ModernBlock`: how it is tried."""

from __future__ import annotations

import numpy as np
import torch

from grader.authoring.spec import Case, Trial
from lessons.lesson_11.blocks import ASPECTS, cases_of, probe_block
from lessons.lesson_11.drawing import modern_weights


def cases(generator: np.random.Generator) -> list[Case]:
    def weights(d_model: int, d_ff: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return modern_weights(generator, "", d_model, d_ff, d_model // 2, dtype)

    return cases_of(generator, weights, shares_keys=True)


TRIAL = Trial(
    module="course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe_block,
    aspects=ASPECTS,
)
