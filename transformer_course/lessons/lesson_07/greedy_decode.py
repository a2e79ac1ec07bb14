"""`greedy_decode`: how it is tried. The toy models live in the probe."""

from dataclasses import replace

from cellcheck.authoring.aspects import BATCH_OF_ONE, main, shape
from cellcheck.authoring.spec import Trial
from transformer_course.lessons.lesson_07.drawing import CUT, DIFFER, OF_IDS, SAID, ending_cases, in_full_width

TRIAL = Trial(
    module="transformer_course.decoding",
    points=4,
    cases=ending_cases,
    canonical=in_full_width,
    called=SAID,
    aspects=(
        shape(),
        main("the most likely token each time", meaning="At every step, each row gets its most likely token."),
        replace(DIFFER, weight=10.0),
        CUT,
        replace(BATCH_OF_ONE, meaning="A batch of one gives the right answer too, and so does a model in eval mode."),
        *OF_IDS,
    ),
)
