"""`encode`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, refused, special, untouched, worded
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_02.drawing import SYMBOLS, draw_cases, draw_symbols, draw_text, draw_vocabulary
from transformer_course.lessons.lesson_02.spelled import unlike
from transformer_course.lessons.watching import AS_ASKED
from transformer_course.vocabulary import encode

ONE = special("one character", meaning="A text of one character is encoded correctly too.")
EMPTY = special("an empty text", meaning="An empty text is encoded correctly too.")
SPACES = special("spaces count", meaning="Spaces at either end of the text are encoded like any other character.")
UNKNOWN = refused("unknown characters are refused", weight=8.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(symbols: list[str], length: int, unknown: str = "") -> dict[str, Any]:
        text = draw_text(generator, symbols, length)
        return {"text": text + unknown, "vocabulary": draw_vocabulary(generator, symbols)}

    def draw(count: int, length: int, unknown: str = "") -> dict[str, Any]:
        return drawn(draw_symbols(generator, count), length, unknown)

    def both_cases(count: int, length: int) -> dict[str, Any]:
        """A text in which a letter and its capital occur."""
        symbols = draw_cases(generator, count)
        while True:
            inputs = drawn(symbols, length)
            letters = {symbol for symbol in inputs["text"] if symbol.isalpha()}
            if {symbol.swapcase() for symbol in letters} & letters:
                return inputs

    short, long = both_cases(5, 8), both_cases(9, 20)
    again = short
    while encode(**again) == encode(**short):
        again = {**short, "vocabulary": draw_vocabulary(generator, list(short["vocabulary"]))}
    known = sorted(short["vocabulary"])  # and not in what comes next, which is asked for later: it is larger
    strange = draw_symbols(generator, 8, "".join(symbol for symbol in SYMBOLS if symbol not in known))
    capital = str(generator.choice(list("ABCDEFGH")))
    small = [capital.lower(), *draw_symbols(generator, 4, SYMBOLS.replace(capital, "").replace(capital.lower(), ""))]
    spaced = draw_vocabulary(generator, [" ", *draw_symbols(generator, 4)])
    middle = draw_text(generator, list(spaced), 5)
    return [
        Case.of("on a short text", **short),
        Case.of("on the same text with a different vocabulary", **again),
        Case.of("on a longer text", **long),
        Case.of("on a text of one character", ONE, **draw(4, 1)),
        Case.of("on an empty text", EMPTY, **{**draw(4, 5), "text": ""}),
        Case.of("on spaces at both ends", SPACES, text=f" {middle} ", vocabulary=spaced),
        Case.of("on a text with one unknown character at its end", UNKNOWN, **draw(4, 5, "?")),
        Case.of("on a text of unknown characters", UNKNOWN, **{**draw(4, 5), "text": "?=?"}),
        Case.of("on a character that only an earlier vocabulary had", UNKNOWN, **drawn(strange, 5, known[-1])),
        Case.of("on a capital when only its lower-case letter is known", UNKNOWN, **drawn(small, 4, capital)),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The ids, and what is missing from them, if that can be seen."""
    if "output" not in observation or not case.tags >= USUAL:
        return observation
    return {"spelled": _spelled(observation["output"], **case.inputs), **observation}


def _spelled(output: Any, text: str, vocabulary: dict[str, int]) -> str:
    right = encode(text, vocabulary)
    if output == right:
        return AS_ASKED
    for changed, name in ((text.lower(), "lower-case letters"), (text.upper(), "capitals")):
        if output == [vocabulary[symbol] for symbol in changed if symbol in vocabulary]:
            return (
                f"All letters are looked up as {name}, and what isn't in the vocabulary is left out. Which characters "
                "of the text does the docstring mean, and what should happen where one is unknown?"
            )
    return unlike(output, right, "id")


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"spelled": "what the ids stand for"},
    aspects=(
        worded(main("the right ids", meaning="Each character of the text becomes its id, in order."), "spelled"),
        ONE,
        EMPTY,
        SPACES,
        UNKNOWN,
        untouched("the vocabulary stays as it was"),
    ),
)
