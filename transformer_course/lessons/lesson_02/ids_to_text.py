"""`ids_to_text`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from transformer_course.byte_pairs import byte_pair_ids, byte_pair_vocabulary, ids_to_text
from transformer_course.lessons.lesson_02.drawing import FOREIGN, draw_merges
from transformer_course.lessons.lesson_02.spelled import unlike
from transformer_course.lessons.watching import AS_ASKED

BYTES = aspects.special(
    "characters of several bytes",
    "",
    13.0,
    "Characters that take several bytes in UTF-8, such as 'é', come back whole.",
)
PADDING = aspects.special(
    "padding becomes nothing", "", 3.0, "Padding adds nothing to the text, whether at the end or in the middle."
)
SPACES = aspects.special("spaces count", meaning="Spaces at either end of the text come back.")
EMPTY = aspects.special("no ids", meaning="An empty list of ids gives an empty text.")
UNKNOWN = aspects.refused("unknown ids are refused", weight=2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    merges = draw_merges(generator)
    vocabulary = byte_pair_vocabulary(merges)
    tokens = list(vocabulary)
    letters = list(dict.fromkeys("".join(tokens)))

    def draw(*extra: str) -> str:
        """Merged tokens, one of them twice, and single letters between them."""
        parts = [tokens[0], tokens[2], tokens[0], *generator.choice(letters, 3), *extra]
        while True:
            text = "".join(str(part) for part in generator.permutation(parts))
            if text != text[::-1] and text[0] not in extra:
                return text

    def case(label: str, ids: list[int], *about: Aspect) -> Case:
        mixed = [tokens[i] for i in generator.permutation(len(tokens))]  # in another order than the ids
        return Case.of(label, *about, ids=ids, vocabulary={token: vocabulary[token] for token in mixed})

    def encoded(*extra: str) -> list[int]:
        return byte_pair_ids(draw(*extra), merges, vocabulary)

    one, two = (str(symbol) for symbol in generator.permutation(FOREIGN)[:2])
    inside, few = encoded(), encoded()
    others = byte_pair_vocabulary(draw_merges(generator))
    others = {token: others[token] for token in reversed(others)}
    fewer = {token: place for token, place in vocabulary.items() if place < 260}
    beyond = byte_pair_ids(draw() + draw() + draw(), merges[:3], fewer)
    return [
        case("on a few ids", few),
        Case.of("on the same ids with a different vocabulary", ids=few, vocabulary=others),
        case("on more ids", [*encoded(" ", "."), *encoded()]),
        case("on letters that take several bytes", encoded(one, two), BYTES),
        case("on spaces at both ends", [33, *encoded(), 33], SPACES),
        case("on padding at the end", [*encoded(), 0, 0], PADDING),
        case("on padding in the middle", [*inside[:2], 0, *inside[2:]], PADDING),
        case("on an empty list of ids", [], EMPTY),
        # What is larger is asked for later: other vocabularies had this id.
        Case.of("on an id that stands for nothing", UNKNOWN, ids=[*beyond, 260], vocabulary=fewer),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The text, and what of it is missing or in another place, if that can be seen."""
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    return {"spelled": _spelled(observation["output"], **case.inputs), **observation}


def _spelled(output: Any, ids: list[int], vocabulary: dict[str, int]) -> str:
    def text(*some: int) -> str:
        return ids_to_text(some, vocabulary)

    right, of_bytes = text(*ids), [each for each in ids if each <= 256]
    merged = [each for each in ids if each > 256]
    if output == right or not of_bytes or not merged:
        return AS_ASKED
    sentences = {
        text(*of_bytes): "Only the bytes are in your text. What do ids above 256 stand for?",
        text(*merged): "Only the merged tokens are in your text. What do ids from 1 to 256 stand for?",
        text(*merged, *of_bytes): "Your text has all merged tokens first, then all bytes. In which order are the ids?",
        text(*of_bytes, *merged): "Your text has all bytes first, then all merged tokens. In which order are the ids?",
        text(*ids[::-1]): "Your text begins with the last id. In which order are the ids?",
    }
    if isinstance(output, str) and output in sentences:
        return sentences[output]
    return unlike(output, right, "character")


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"spelled": "what the text is made of"},
    aspects=(
        aspects.worded(
            aspects.main("the right text", meaning="The ids are turned back into the right text."), "spelled"
        ),
        BYTES,
        PADDING,
        SPACES,
        EMPTY,
        UNKNOWN,
        aspects.untouched("the arguments stay as they were", 2.0),
    ),
)
