"""`create_padding_mask`: how it is tried. It is lesson 3's mask, written once more under the paper's name."""

from __future__ import annotations

from grader.authoring.spec import Trial
from lessons.lesson_03.padding_mask import TRIAL as PADDING_MASK

TRIAL = Trial(
    module="course.paper.masks",
    points=PADDING_MASK.points,
    cases=PADDING_MASK.cases,
    aspects=PADDING_MASK.aspects,
)
