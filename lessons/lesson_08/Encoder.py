"""`Encoder`: how it is tried. The contract leaves names open, so the probe looks at properties."""

from __future__ import annotations

from functools import partial

from grader.authoring.spec import Trial
from lessons.lesson_08.stacks import LAST_LOOKS, USUAL_LOOKS, cases_of, masked

TRIAL = Trial(
    module="course.paper.model",
    points=2,
    cases=partial(cases_of, decoder=False),
    aspects=(*USUAL_LOOKS, masked("mask"), *LAST_LOOKS),
)
