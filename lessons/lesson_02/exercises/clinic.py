"""`round_trips`, the bug clinic: does a text survive? The toy tokenizers are in `patients`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course.vocabulary import round_trips
from grader.authoring.aspects import special, tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.patients import pair

Coder = Callable[[Any], Any]

# (tokenizer, kind of text, tag, words for the learner)
_TRIED = [
    ("character codes", "full", "sound", "with a sound tokenizer that uses character codes"),
    ("bytes", "full", "sound", "with a sound tokenizer that uses bytes"),
    ("words", "full", "sound", "with a sound tokenizer that cuts at single spaces"),
    ("ids backwards", "full", "sound", "with a sound tokenizer that writes its ids backwards"),
    ("a tensor of ids", "full", "sound", "with a sound tokenizer that returns its ids in a tensor"),
    ("small letters", "plain", "sound", "with a tokenizer that lower-cases, on a text without capitals"),
    ("drops spaces", "plain", "sound", "with a tokenizer that drops spaces, on a text without spaces"),
    ("strips", "plain", "sound", "with a tokenizer that strips the ends, on a text without spaces"),
    (
        "stops encoding at a full stop",
        "plain",
        "sound",
        "with a tokenizer that knows no full stop, on a text without one",
    ),
    ("drops spaces", "full", "broken", "with a tokenizer that drops spaces"),
    ("drops what is no letter", "full", "broken", "with a tokenizer that drops unknown characters"),
    ("off by one", "full", "broken", "with a tokenizer whose ids are off by one"),
    ("loses the last character", "full", "broken", "with a tokenizer that loses the last character"),
    ("drops spaces when decoding", "full", "broken", "with a tokenizer that drops spaces when it decodes"),
    (
        "replaces what is no letter",
        "full",
        "length",
        "with a tokenizer that turns unknown characters into question marks",
    ),
    ("small letters", "full", "capitals", "with a tokenizer that makes all letters lower case"),
    ("strips", "full", "ends", "with a tokenizer that strips spaces off the ends"),
    ("one space for two", "inner", "ends", "with a tokenizer that turns two spaces into one"),
    ("doubles the last character", "full", "symbols", "with a tokenizer that doubles the last character"),
    ("sorts", "full", "order", "with a tokenizer that sorts its ids"),
    ("swaps two neighbours", "full", "order", "with a tokenizer that swaps two neighbours"),
    ("stops encoding at a full stop", "full", "errors", "with a tokenizer that raises an error at a full stop"),
    ("stops decoding at a space", "full", "errors", "with a tokenizer that raises an error when it decodes a space"),
]


def _pairs(generator: np.random.Generator) -> list[Case]:
    def word(length: int) -> str:
        return "".join(str(s) for s in generator.choice(list("abdefghiklmnoprstuwy"), length))

    def draw(kind: str) -> str:
        while True:
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
        Case(label, {"text": draw(kind)}, frozenset({tag}), partial(pair, name)) for name, kind, tag, label in _TRIED
    ]


def _safely(answer: Callable[[Coder, Coder, str], Any]) -> Callable[[Coder, Coder, str], Any]:
    """The same question, answered with False where the pair stops with an error."""

    def ask(encode: Coder, decode: Coder, text: str) -> Any:
        try:
            return answer(encode, decode, text)
        except Exception:
            return False

    return ask


def _compared(reduce: Callable[[str], Any]) -> Callable[[Coder, Coder, str], Any]:
    """Compares what `reduce` leaves of the two texts."""
    return _safely(lambda encode, decode, text: reduce(decode(encode(text))) == reduce(text))


def _errors_are_fine(encode: Coder, decode: Coder, text: str) -> bool:
    try:
        return bool(decode(encode(text)) == text)
    except Exception:
        return True


def _by_characters(encode: Coder, decode: Coder, text: str) -> bool:
    try:
        back = decode(encode(text))
    except (KeyError, ValueError):
        return False
    return len(back) == len(text) and all(a == b for a, b in zip(back, text, strict=True))


def _by_two_steps(encode: Coder, decode: Coder, text: str) -> bool:
    try:
        ids = encode(text)
        same = decode(ids) == text
    except Exception:
        same = False
    return bool(same)


def _own_text(encode: Coder, decode: Coder, text: str) -> bool:
    return bool(decode(encode("abc")) == "abc")


ROUND_TRIPS = Exercise(
    symbol="round_trips",
    points=2,
    cases=_pairs,
    references=(round_trips,),
    aspects=(
        *tells_apart(
            meanings={
                "sound": "True for a tokenizer that gives back the text it was given.",
                "broken": "False for a tokenizer that loses or changes a part of the text.",
            },
            sound="sound tokenizers pass",
            broken="losses are found",
        ),
        special(
            "losses that keep the length",
            "length",
            meaning="False even if the text that comes back is as long as the original.",
        ),
        special("capitals count", "capitals", meaning="False if capitals come back as lower-case letters."),
        special(
            "every space counts",
            "ends",
            meaning="False if a space is lost, at either end of the text or between two words.",
        ),
        special("every repetition counts", "symbols", meaning="False if a character comes back twice."),
        special("the order counts", "order", meaning="False if the characters come back in a different order."),
        special("an error means False", "errors", weight=3.0, meaning="False if encode or decode stops with an error."),
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda encode, decode, text: True,
            "Every tokenizer passes, the broken ones too. What comes back when you encode and then decode?",
            central=True,
        ),
        Mistake(
            "never_true",
            lambda encode, decode, text: False,
            "No tokenizer passes, not even one that changes nothing. Which two texts do you compare?",
            central=True,
        ),
        Mistake(
            "answer_turned_round",
            lambda encode, decode, text: not round_trips(encode, decode, text),
            "You tell them apart, but call the sound ones broken. What does True mean?",
        ),
        Mistake(
            "ids_compared",
            _safely(lambda encode, decode, text: list(encode(decode(encode(text)))) == list(encode(text))),
            "You compare ids with ids. If encoding has already lost the spaces, will the two differ?",
            central=True,
        ),
        Mistake(
            "lengths_compared",
            _compared(len),
            "You compare lengths. Which changes keep the length?",
            central=True,
        ),
        Mistake(
            "case_ignored",
            _compared(str.lower),
            "You ignore the difference between capitals and lower case. Would a reader?",
        ),
        Mistake(
            "ends_ignored",
            _compared(str.strip),
            "You ignore spaces at the ends. Did the same text come back?",
        ),
        Mistake(
            "spaces_ignored",
            _compared(lambda text: "".join(text.split())),
            "You ignore spaces. Could a reader still tell where the words begin?",
        ),
        Mistake(
            "order_ignored",
            _compared(lambda text: sorted(Counter(text).items())),
            "You compare which characters there are, and how many of each. Is 12 the same text as 21?",
        ),
        Mistake(
            "repetitions_ignored",
            _compared(set),
            "You compare which characters occur at all. What about how often, and in which order?",
        ),
        Mistake(
            "beginnings_compared",
            _safely(lambda encode, decode, text: text.startswith(decode(encode(text)))),
            "You ask whether the text starts with what came back. What if the end is lost?",
        ),
        Mistake(
            "errors_passed_on",
            lambda encode, decode, text: decode(encode(text)) == text,
            "Your test itself raises an error when a tokenizer does. Did the text come back in that case?",
        ),
        Mistake(
            "errors_are_fine",
            _errors_are_fine,
            "A tokenizer that raises an error passes. Did the text come back?",
        ),
        Mistake(
            "text_returned",
            _safely(lambda encode, decode, text: decode(encode(text))),
            "You return what came back. Which yes-or-no question does the caller want answered?",
        ),
        Mistake(
            "own_text",
            _own_text,
            "You try a text of your own and ignore the one you were given. Which text should come back?",
        ),
    ),
    variants={
        "character by character": _by_characters,
        "two steps": _by_two_steps,
        "both ways round": _safely(lambda encode, decode, text: text == decode(encode(text))),
        "bytes": _safely(lambda encode, decode, text: decode(encode(text)).encode() == text.encode()),
    },
)
