"""`DecoderOnlyBlock`: how it is tried."""

import numpy as np
import torch

from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_11.blocks import AGAIN, ASPECTS, cases_of, probe_block, read_before
from transformer_course.lessons.lesson_11.drawing import classic_weights
from transformer_course.lessons.wordings import usually_in_words


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def weights(d_model: int, d_ff: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        return classic_weights(generator, "", d_model, d_ff, dtype)

    usual = cases_of(generator, weights, shares_keys=False)
    return [*usual, read_before(generator, usual[0], 1), read_before(generator, usual[0], 8)]


TRIAL = Trial(
    module="transformer_course.language_model.gpt",
    points=2,
    cases=cases,
    probe=probe_block,
    called={"looks": "which tokens a position sees", "size": "how many numbers your block learns"},
    aspects=(*ASPECTS, AGAIN),
)
