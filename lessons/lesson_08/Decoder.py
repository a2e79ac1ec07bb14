"""`Decoder`: how it is tried. The contract leaves names open, so the probe looks at properties."""

from __future__ import annotations

from functools import partial

from grader.authoring.spec import Trial
from lessons.lesson_04.looks import seen
from lessons.lesson_08.stacks import LAST_LOOKS, USUAL_LOOKS, cases_of, masked

TRIAL = Trial(
    module="course.paper.model",
    points=2,
    cases=partial(cases_of, decoder=True),
    aspects=(
        *USUAL_LOOKS,
        masked("self_mask"),
        seen(
            "encoder states",
            "listening",
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
            weight=3.0,
            meaning="encoder_mask decides, in every layer, which encoder states are heard.",
        ),
        *LAST_LOOKS,
    ),
)
