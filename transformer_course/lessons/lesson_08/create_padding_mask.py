"""`create_padding_mask`: how it is tried. It is lesson 3's mask, written once more under the paper's name."""

from __future__ import annotations

from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_03.padding_mask import TRIAL as PADDING_MASK

TRIAL = Trial(
    module="transformer_course.paper.masks",
    points=PADDING_MASK.points,
    cases=PADDING_MASK.cases,
    aspects=PADDING_MASK.aspects,
)
