"""`decode`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, refused, special, untouched, worded
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_02.drawing import draw_symbols, draw_text, draw_vocabulary
from transformer_course.lessons.lesson_02.spelled import unlike
from transformer_course.vocabulary import decode

PADDING = special("padding gives nothing", "", 4.0, "Padding at the end adds nothing to the text.")
INSIDE = special("padding anywhere", weight=2.0, meaning="Padding in the middle adds nothing to the text either.")
NOTHING = special("nothing gives nothing", meaning="An empty list, or one of nothing but padding, gives an empty text.")
SPACES = special("spaces count", meaning="Spaces at either end of the text come back.")
UNKNOWN = refused("unknown ids are refused")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(count: int, length: int) -> tuple[list[int], dict[str, int]]:
        symbols = draw_symbols(generator, count)
        vocabulary = draw_vocabulary(generator, symbols)
        return [vocabulary[s] for s in draw_text(generator, symbols, length)], vocabulary

    def case(label: str, ids: list[int], vocabulary: dict[str, int], *about: Aspect) -> Case:
        return Case.of(label, *about, ids=ids, vocabulary=vocabulary)

    short, long, padded, inside = draw(5, 7), draw(9, 12), draw(5, 6), draw(5, 8)
    beyond = draw(6, 20)  # it has no id above 6; the long one, which is asked for before, as it is smaller, has
    turned = short[1]
    while decode(short[0], turned) == decode(*short):
        turned = draw_vocabulary(generator, list(short[1]))
    split = int(generator.integers(2, 6))
    spaced = draw_vocabulary(generator, [" ", *draw_symbols(generator, 4)])
    ends = [spaced[s] for s in f" {draw_text(generator, list(spaced), 5)} "]
    unknown = int(generator.integers(7, 10))
    return [
        case("on a few ids", *short),
        case("on the same ids with a different vocabulary", short[0], turned),
        case("on more ids", *long),
        case("on padding at the end", [*padded[0], 0, 0, 0], padded[1], PADDING),
        case("on padding in the middle", [*inside[0][:split], 0, 0, *inside[0][split:]], inside[1], INSIDE),
        case("on an empty list of ids", [], short[1], NOTHING),
        case("on nothing but padding", [0, 0, 0], short[1], NOTHING),
        case("on spaces at both ends", ends, spaced, SPACES),
        case("on an id that isn't in the vocabulary", [*beyond[0], unknown], beyond[1], UNKNOWN),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The text, and what is missing from it, if that can be seen."""
    if "output" not in observation or not case.tags >= USUAL:
        return observation
    inputs: Any = case.inputs
    return {"spelled": unlike(observation["output"], decode(**inputs), "character"), **observation}


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"spelled": "what the text is made of"},
    aspects=(
        worded(main("the right text", meaning="Each id becomes its character, in order."), "spelled"),
        PADDING,
        INSIDE,
        NOTHING,
        SPACES,
        UNKNOWN,
        untouched("the arguments stay as they were"),
    ),
)
