"""`byte_pair_ids`: how it is tried."""

from __future__ import annotations

import numpy as np

from course.byte_pairs import byte_pair_vocabulary
from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Aspect, Case, Trial
from lessons.lesson_02.drawing import FOREIGN, draw_merges

TEXT = special("spaces, capitals, punctuation", meaning="Spaces, capitals and punctuation get the right ids too.")
BYTES = special(
    "characters of several bytes",
    "",
    5.0,
    "Characters that take several bytes in UTF-8, such as 'é', get the right ids.",
)
PLAIN = special("bytes alone", meaning="A text without any merged token becomes its bytes' ids.")
EMPTY = special("an empty text", meaning="An empty text gives an empty list of ids.")


def cases(generator: np.random.Generator) -> list[Case]:
    merges = draw_merges(generator)
    letters = list(dict.fromkeys("".join(a + b for a, b in merges)))
    vocabulary = byte_pair_vocabulary(merges)

    def word() -> str:
        """Letters in which merged tokens occur, one made of another. In "abcd", the longest token comes too late."""
        (a, b), (c, d), (_, _), _, _ = merges
        parts = [a + b + c + d, a + b + c, letters[-1], *generator.choice(letters, 3)]
        return "".join(str(part) for part in generator.permutation(parts))

    def case(label: str, text: str, *about: Aspect) -> Case:
        return Case.of(label, *about, text=text, merges=list(merges), vocabulary=dict(vocabulary))

    two, three = (str(s) for s in generator.permutation(FOREIGN[:3])[:2]), str(generator.choice(FOREIGN[3:]))
    capital = letters[0].upper() + letters[1]
    return [
        case("on a word", word()),
        case("on a longer word", word() + word()),
        case("on a text with spaces and a capital", f" {capital} {word()}.  {word()}", TEXT),
        case("on letters that take several bytes", three.join([word(), *two]), BYTES),
        case("on a text without any merged token", letters[1] + letters[0] + "?", PLAIN),
        case("on an empty text", "", EMPTY),
    ]


TRIAL = Trial(
    module="course.byte_pairs",
    points=2,
    cases=cases,
    aspects=(
        main("the right ids", meaning="The text becomes the right ids, in order."),
        TEXT,
        BYTES,
        PLAIN,
        EMPTY,
        untouched("the arguments stay as they were"),
    ),
)
