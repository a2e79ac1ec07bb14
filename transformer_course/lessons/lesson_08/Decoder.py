"""`Decoder`: how it is tried. Parts may bear any names, so the probe looks at properties."""

from __future__ import annotations

from functools import partial

from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_04.looks import seen
from transformer_course.lessons.lesson_08.stack_cases import (
    CALLED,
    LAST_LOOKS,
    MASK_KEYS,
    STATE_KEYS,
    USUAL_LOOKS,
    cases_of,
    masked,
    masked_in_pre_norm,
)

TRIAL = Trial(
    module="transformer_course.paper.model",
    points=2,
    cases=partial(cases_of, decoder=True),
    called=CALLED,
    aspects=(
        *USUAL_LOOKS,
        masked("self_mask"),
        seen(
            "encoder states",
            "listening",
            "x_for_encoder_states",
            "an_encoder_state",
            "the_size_of_encoder_states",
            weight=3.0,
            meaning="Every encoder state reaches every state that comes out, and is used as it comes.",
        ),
        seen(
            "encoder_mask",
            "listening",
            "an_encoder_mask",
            "what_the_encoder_mask_hides",
            "what_the_encoder_mask_allows",
            "an_encoder_mask_for_each_row",
            weight=3.0,
            meaning="encoder_mask decides, in every layer, which encoder states are heard.",
        ),
        masked_in_pre_norm(*MASK_KEYS, *STATE_KEYS),
        *LAST_LOOKS,
    ),
)
