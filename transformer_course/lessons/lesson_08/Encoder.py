"""`Encoder`: how it is tried. Parts may bear any names, so the probe looks at properties."""

from __future__ import annotations

from functools import partial

from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_08.stack_cases import (
    CALLED,
    LAST_LOOKS,
    MASK_KEYS,
    USUAL_LOOKS,
    cases_of,
    masked,
    masked_in_pre_norm,
)

TRIAL = Trial(
    module="transformer_course.paper.model",
    points=2,
    cases=partial(cases_of, decoder=False),
    called=CALLED,
    aspects=(*USUAL_LOOKS, masked("mask"), masked_in_pre_norm(*MASK_KEYS), *LAST_LOOKS),
)
