"""`shift_right`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import BATCH_OF_ONE, dtype, shape, special, untouched, values
from cellcheck.authoring.draw import dims, with_gaps
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged

ANY_START = special("any start_id", meaning="Each row begins with the start_id that is passed in, whatever it is.")
SINGLE = special("rows of a single token", meaning="Rows of a single token give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, start_id: int) -> dict[str, Any]:
        # Real ids from 2 on, and a start id beyond them: nothing can be taken for anything else.
        targets = draw_tokens(generator, ragged(generator, batch, length), length, 9)
        return {"targets": torch.where(targets > 0, targets + 1, 0), "start_id": start_id}

    batch, length = dims(generator, 2, 3, 7)
    other, wide = dims(generator, 2, 3, 7)
    laid_out = with_gaps(draw(batch, length, 13))
    return [
        Case.of("with rows of different lengths", **draw(batch, length, int(generator.integers(12, 20)))),
        Case.of("with other rows", **draw(other, wide, int(generator.integers(20, 30)))),
        Case.of("with as many rows as columns", **draw(4, 4, 11)),
        Case.of("where start_id is 1", ANY_START, **draw(batch, length, 1)),
        Case.of("where start_id is 0, as padding is", ANY_START, **draw(batch, length, 0)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw(1, length, 12)),
        Case.of("with rows of a single token", SINGLE, **draw(batch, 1, 12)),
        Case.of("with targets that are not contiguous", **laid_out),
    ]


TRIAL = Trial(
    module="transformer_course.sequences",
    points=1,
    cases=cases,
    aspects=(shape(), values(), ANY_START, BATCH_OF_ONE, SINGLE, dtype(), untouched()),
)
