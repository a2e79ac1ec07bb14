"""`masks_are_sound`, the bug clinic: how it is tried. Does every token see what it should, and nothing else?"""

from __future__ import annotations

from functools import partial

import numpy as np

from cellcheck.authoring.aspects import tells_apart
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_08.patients import maker

ASPECTS = SOUND, FUTURE, PAST, PADDING, INVERTED, FORM = tells_apart(
    sound="sound masks pass",
    future="a glimpse of the future is found",
    past="a hidden past is found",
    padding="padding in the wrong place is found",
    inverted="inverted masks are found",
    form="masks that don't fit are found",
    central=("future", "padding"),
    meanings={
        "sound": "Masks that let every real token see what it should pass, whatever padding sees.",
        "future": "Masks that let a token see a later one are broken.",
        "past": "Masks that hide what a token should see of its past are broken.",
        "padding": "Source masks that show padding or hide a real token are broken.",
        "inverted": "In this course True means: may attend.",
        "form": "Masks must be booleans that broadcast to (batch, heads, queries, keys).",
    },
)

# (how the masks are made, what looks at it, words for the learner)
MASKS = [
    ("plain", SOUND, "with the masks of this lesson"),
    ("for each head", SOUND, "with masks that were expanded and cut again"),
    ("rows of padding open", SOUND, "with masks in which padding may look anywhere"),
    ("rows of padding empty", SOUND, "with masks in which padding sees nothing"),
    ("the future alone", SOUND, "with a target mask that hides the future, and so the padding behind it"),
    ("no future hidden", FUTURE, "with a target mask that hides only padding"),
    ("one token ahead", FUTURE, "with a target mask that lets each token see the next one"),
    ("past hidden", PAST, "with a target mask that hides the past"),
    ("without itself", PAST, "with a target mask in which no token sees itself"),
    ("one step back only", PAST, "with a target mask that reaches back a single step"),
    ("source padding seen", PADDING, "with a source mask that hides nothing"),
    ("another pad_id", PADDING, "with a source mask that takes another id for padding"),
    ("first row's padding for all", PADDING, "with the padding of the first row in every row"),
    ("a source token hidden", PADDING, "with a source mask that hides a real token"),
    ("both inverted", INVERTED, "with both masks inverted"),
    ("source inverted", INVERTED, "with an inverted source mask"),
    ("target inverted", INVERTED, "with an inverted target mask"),
    ("no axis for heads", FORM, "with masks that have no axis for the heads"),
    ("square source mask", FORM, "with a source mask that doesn't fit the cross-attention"),
    ("oblong source mask", FORM, "with a source mask that doesn't fit the encoder"),
    ("swapped", FORM, "with the two masks swapped"),
    ("whole numbers", FORM, "with masks of whole numbers"),
]


def cases(generator: np.random.Generator) -> list[Case]:
    another_id = int(generator.integers(1, 100))
    return [Case(label, {}, aspect.tags, partial(maker, name, another_id)) for name, aspect, label in MASKS]


TRIAL = Trial(module="transformer_course.paper.masks", points=2, cases=cases, aspects=ASPECTS)
