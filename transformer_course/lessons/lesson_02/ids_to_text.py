"""`ids_to_text`: how it is tried."""

import numpy as np

from cellcheck.authoring import Aspect, Case, Trial, aspects
from transformer_course.byte_pairs import byte_pair_ids, byte_pair_vocabulary
from transformer_course.lessons.lesson_02.drawing import FOREIGN, draw_merges

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


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=2,
    cases=cases,
    aspects=(
        aspects.main("the right text", meaning="The ids are turned back into the right text."),
        BYTES,
        PADDING,
        SPACES,
        EMPTY,
        UNKNOWN,
        aspects.untouched("the arguments stay as they were", 2.0),
    ),
)
