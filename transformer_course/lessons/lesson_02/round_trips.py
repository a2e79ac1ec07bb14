"""`round_trips`, the bug clinic: does a text survive? How it is tried; the toy tokenizers are in `patients`."""

from functools import partial

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from transformer_course.lessons.lesson_02.patients import pair

SOUND, BROKEN = aspects.tells_apart(
    meanings={
        "sound": "True for a tokenizer that gives back the text it was given.",
        "broken": "False for a tokenizer that loses or changes a part of the text.",
    },
    sound="sound tokenizers pass",
    broken="losses are found",
)
LENGTH = aspects.special(
    "losses that keep the length", meaning="False even if the text that comes back is as long as the original."
)
CAPITALS = aspects.special("capitals count", meaning="False if capitals come back as lower-case letters.")
SPACES = aspects.special(
    "every space counts", meaning="False if a space is lost, at either end of the text or between two words."
)
TWICE = aspects.special("every repetition counts", meaning="False if a character comes back twice.")
ORDER = aspects.special("the order counts", meaning="False if the characters come back in a different order.")
EVERY = aspects.special(
    "nothing lost gets past", "lost", 13.0, "False whatever is lost or changed on the way, and if there is an error."
)
ERRORS = aspects.special("an error means False", "", 3.0, "False if encode or decode stops with an error.")
ANY_ERROR = aspects.special("any error means False", meaning="False whichever kind of error encode or decode raises.")

# (tokenizer, kind of text, aspect, words for the learner)
TRIED = [
    ("character codes", "full", SOUND, "with a sound tokenizer that uses character codes"),
    ("bytes", "full", SOUND, "with a sound tokenizer that uses bytes"),
    ("words", "full", SOUND, "with a sound tokenizer that cuts at single spaces"),
    ("ids backwards", "full", SOUND, "with a sound tokenizer that writes its ids backwards"),
    ("an array of ids", "full", SOUND, "with a sound tokenizer that returns its ids in an array"),
    ("small letters", "plain", SOUND, "with a tokenizer that lowercases everything, on a text without capitals"),
    ("drops spaces", "plain", SOUND, "with a tokenizer that drops spaces, on a text without spaces"),
    ("strips", "plain", SOUND, "with a tokenizer that strips the ends, on a text without spaces"),
    (
        "stops encoding at a full stop",
        "plain",
        SOUND,
        "with a tokenizer that knows no full stop, on a text without one",
    ),
    ("character codes", "empty", SOUND, "with a sound tokenizer that uses character codes, on an empty text"),
    ("drops spaces", "full", BROKEN, "with a tokenizer that drops spaces"),
    ("drops what is no letter", "full", BROKEN, "with a tokenizer that drops unknown characters"),
    ("off by one", "full", BROKEN, "with a tokenizer whose ids are off by one"),
    ("loses the last character", "full", BROKEN, "with a tokenizer that loses the last character"),
    ("drops spaces when decoding", "full", BROKEN, "with a tokenizer that drops spaces when it decodes"),
    (
        "replaces what is no letter",
        "full",
        LENGTH,
        "with a tokenizer that turns unknown characters into question marks",
    ),
    ("small letters", "full", CAPITALS, "with a tokenizer that lowercases everything"),
    ("strips", "full", SPACES, "with a tokenizer that strips spaces off the ends"),
    ("one space for two", "inner", SPACES, "with a tokenizer that turns two spaces into one"),
    ("doubles the last character", "full", TWICE, "with a tokenizer that doubles the last character"),
    ("sorts", "full", ORDER, "with a tokenizer that sorts its ids"),
    ("swaps two neighbours", "full", ORDER, "with a tokenizer that swaps two neighbours"),
    ("stops encoding at a full stop", "full", ERRORS, "with a tokenizer that raises an error at a full stop"),
    ("stops decoding at a space", "full", ERRORS, "with a tokenizer that raises an error when it decodes a space"),
    ("has no id for a capital", "full", ANY_ERROR, "with a tokenizer that raises another kind of error at a capital"),
    (
        "divides by an id",
        "full",
        ANY_ERROR,
        "with a tokenizer that raises another kind of error when it decodes a space",
    ),
]


def cases(generator: np.random.Generator) -> list[Case]:
    def word(length: int) -> str:
        return "".join(str(s) for s in generator.choice(list("abdefghiklmnoprstuwy"), length))

    def draw(kind: str) -> str:
        while True:
            if kind == "empty":
                return ""
            parts = [word(int(generator.integers(3, 7))) for _ in range(3)]
            if kind == "plain":
                return parts[0]
            digits = str(int(generator.integers(10, 99)))
            text = f"{parts[0].capitalize()} {parts[1]}.  {parts[2].capitalize()} {digits} y"
            if kind == "inner":
                return text
            text = f" {text} "
            if "".join(sorted(text)) != text:
                return text

    return [
        Case(
            label,
            {"text": draw(kind)},
            about.tags | (set() if about in (SOUND, ANY_ERROR) else EVERY.tags),
            partial(pair, name),
        )
        for name, kind, about, label in TRIED
    ]


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=2,
    cases=cases,
    aspects=(SOUND, BROKEN, EVERY, LENGTH, CAPITALS, SPACES, TWICE, ORDER, ERRORS, ANY_ERROR),
)
