"""`greedy_decode`: how it is tried. The toy models live in the probe."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.aspects import BATCH_OF_ONE, main, shape
from grader.authoring.spec import Trial
from lessons.lesson_07.drawing import CUT, DIFFER, OF_IDS, ending_cases, in_full_width

TRIAL = Trial(
    module="course.decoding",
    points=4,
    cases=ending_cases,
    canonical=in_full_width,
    aspects=(
        shape(),
        main("the most likely token each time", meaning="At every step, each row gets its most likely token."),
        replace(DIFFER, weight=6.0),
        CUT,
        replace(BATCH_OF_ONE, meaning="A batch of one gives the right answer too, and so does a model in eval mode."),
        *OF_IDS,
    ),
)
