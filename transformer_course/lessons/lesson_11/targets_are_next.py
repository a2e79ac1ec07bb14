"""`targets_are_next`, the bug clinic: is every target the token that follows its input?

Which of the patients are sound is the answer: this file doesn't travel, and the probe stands in probes.py.
"""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring.aspects import also, special, tells_apart
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_11.patients import maker

SOUND, SHIFTED, MIXED, CORNER = tells_apart(
    sound="sound batches pass",
    shift="targets shifted by the wrong amount are found",
    mixed="targets of something else are found",
    corner="a fault in one row or at one position is found",
    meanings={
        "sound": "A batch is sound when each target follows its own input in the text; inputs needn't be side by side.",
        "shift": "Targets that aren't shifted, or are shifted too far or the wrong way, are broken.",
        "mixed": "Targets that belong to other inputs are broken.",
        "corner": "One wrong target in a row, or one wrong row, is enough.",
    },
)
HUNDRED = also(
    "a hundred batches", "batches", meaning="Batches pass as sound only after 100 of them have been looked at."
)
RARE = special("a fault in one batch of ten is found", "", 3.0, "A single batch may be sound by luck: it takes many.")


def cases(generator: np.random.Generator) -> list[Case]:
    ids = torch.from_numpy(generator.permutation(np.arange(10, 30))[:15])

    def tried(patient: str, about: Aspect, label: str) -> Case:
        return Case(label, {"ids": ids}, about.tags, partial(maker, patient))

    return [
        tried("windows", SOUND, "with sound batches"),
        tried("a single row", SOUND, "with sound batches of a single row"),
        tried("pairs", SOUND, "with sound batches whose inputs are single tokens from anywhere in the text"),
        tried("backwards", SOUND, "with sound batches whose rows run from right to left, inputs and targets alike"),
        tried("columns", SOUND, "with sound batches of one token a row"),
        tried("not shifted", SHIFTED, "with targets that are the inputs themselves"),
        tried("two ahead", SHIFTED, "with targets two tokens ahead"),
        tried("one behind", SHIFTED, "with targets one token behind"),
        tried("shifted twice", SHIFTED, "with targets that were shifted twice"),
        tried("rows exchanged", MIXED, "with the targets of another row"),
        tried("sides exchanged", MIXED, "with inputs and targets exchanged"),
        tried("shuffled", MIXED, "with windows of a shuffled text"),
        tried("last target", CORNER, "with a wrong last target in every row"),
        tried("first target", CORNER, "with a wrong first target in every row"),
        tried("middle target", CORNER, "with a wrong second target in every row"),
        tried("last row", CORNER, "with a last row that isn't shifted"),
        tried("one of many", CORNER, "with one wrong target among forty"),
        tried("padded", CORNER, "with a zero for the last target of each row"),
        tried("now and then", RARE, "with targets that are wrong in one batch of ten"),
        tried("row now and then", RARE, "with a last row that isn't shifted, in one batch of ten"),
        tried("one of many now and then", RARE, "with one wrong target among forty, in one batch of ten"),
        tried("mostly", RARE, "with targets that are right in one batch of ten"),
        tried("wraps", RARE, "with a window beyond the end of the text, in one batch of ten"),
    ]


TRIAL = Trial(
    module="transformer_course.language_model.batches",
    points=2,
    cases=cases,
    called={"batches": "how many batches you look at before you say True"},
    aspects=(SOUND, HUNDRED, SHIFTED, MIXED, CORNER, RARE),
)
