"""`decode`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course.vocabulary import decode
from grader.authoring.aspects import USUAL, main, refused, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.drawing import draw_symbols, draw_text, draw_vocabulary

Vocabulary = dict[str, int]


def _ids(generator: np.random.Generator) -> list[Case]:
    def draw(count: int, length: int) -> tuple[list[int], Vocabulary]:
        symbols = draw_symbols(generator, count)
        vocabulary = draw_vocabulary(generator, symbols)
        return [vocabulary[s] for s in draw_text(generator, symbols, length)], vocabulary

    def case(ids: list[int], vocabulary: Vocabulary) -> dict[str, Any]:
        return {"ids": ids, "vocabulary": vocabulary}

    short, long, padded, inside, beyond = draw(5, 7), draw(9, 20), draw(5, 6), draw(5, 8), draw(4, 5)
    split = int(generator.integers(2, 6))
    spaced = draw_vocabulary(generator, [" ", *draw_symbols(generator, 4)])
    ends = [spaced[s] for s in f" {draw_text(generator, list(spaced), 5)} "]
    return [
        Case("on a few ids", case(*short), USUAL),
        Case("on more ids", case(*long), USUAL),
        Case("on padding at the end", case([*padded[0], 0, 0, 0], padded[1]), frozenset({"padding"})),
        Case(
            "on padding in the middle",
            case([*inside[0][:split], 0, 0, *inside[0][split:]], inside[1]),
            frozenset({"inside"}),
        ),
        Case("on an empty list of ids", case([], short[1]), frozenset({"nothing"})),
        Case("on nothing but padding", case([0, 0, 0], short[1]), frozenset({"nothing"})),
        Case("on spaces at both ends", case(ends, spaced), frozenset({"spaces"})),
        Case(
            "on an id that isn't in the vocabulary",
            case([*beyond[0], 5 + int(generator.integers(1, 9))], beyond[1]),
            frozenset({"unknown"}),
        ),
    ]


def _table(vocabulary: Vocabulary) -> dict[int, str]:
    return {place: symbol for symbol, place in vocabulary.items()}


def _missing(otherwise: Callable[[int], str]) -> Callable[[list[int], Vocabulary], str]:
    """Decodes, and says something of its own for ids that are not in the vocabulary."""
    return lambda ids, vocabulary: "".join(_table(vocabulary).get(i, otherwise(i)) for i in ids)


def _stops_at_padding(ids: list[int], vocabulary: Vocabulary) -> str:
    table, text = _table(vocabulary), ""
    for i in ids:
        if i == 0:
            break
        text += table[i]
    return text


def _first_only(ids: list[int], vocabulary: Vocabulary) -> str:
    table, text = _table(vocabulary), ""
    for i in ids:
        if i != 0:
            text += table[i]
            return text
    return text


def _padding_taken_out(ids: list[int], vocabulary: Vocabulary) -> str:
    while 0 in ids:
        ids.remove(0)
    return decode(ids, vocabulary)


def _by_search(ids: list[int], vocabulary: Vocabulary) -> str:
    names, places = list(vocabulary), list(vocabulary.values())
    return "".join(names[places.index(i)] for i in ids if i)


def _by_table_with_padding(ids: list[int], vocabulary: Vocabulary) -> str:
    table = _table(vocabulary)
    table[0] = ""
    return "".join(map(table.__getitem__, ids))


def _by_steps(ids: list[int], vocabulary: Vocabulary) -> str:
    text = ""
    for i in ids:
        if i != 0:
            found = [symbol for symbol in vocabulary if vocabulary[symbol] == i]
            if not found:
                raise LookupError(i)
            text += found[0]
    return text


DECODE = Exercise(
    symbol="decode",
    points=1,
    cases=_ids,
    references=(decode,),
    aspects=(
        main("the right text", meaning="Each id becomes its character, in order."),
        special("padding gives nothing", "padding", weight=2.0, meaning="Padding at the end adds nothing to the text."),
        special("padding anywhere", "inside", meaning="Padding in the middle adds nothing to the text either."),
        special(
            "nothing gives nothing",
            "nothing",
            meaning="An empty list, or one of nothing but padding, gives an empty text.",
        ),
        special("spaces count", "spaces", meaning="Spaces at either end of the text come back."),
        refused("unknown ids are refused", "unknown"),
        untouched("the arguments stay as they were"),
    ),
    mistakes=(
        Mistake(
            "padding_is_an_error",
            lambda ids, vocabulary: "".join(_table(vocabulary)[i] for i in ids),
            "It stops with an error at padding, as if id 0 were unknown. What should id 0 become?",
            central=True,
        ),
        Mistake(
            "unknown_left_out",
            _missing(lambda i: ""),
            "Padding and unknown ids both vanish. Only one of the two may: which one, and how do you tell them apart?",
        ),
        Mistake(
            "unknown_as_question_mark",
            _missing(lambda i: "" if i == 0 else "?"),
            "An unknown id becomes a question mark. How would a reader tell it from a real question mark?",
        ),
        Mistake(
            "return_inside_the_loop",
            _first_only,
            "Only the first character came back. Is the return inside the loop?",
        ),
        Mistake(
            "padding_as_space",
            lambda ids, vocabulary: "".join(({0: " "} | _table(vocabulary))[i] for i in ids),
            "Your padding became spaces. How many characters should a 0 become?",
            central=True,
        ),
        Mistake(
            "padding_as_digit",
            lambda ids, vocabulary: "".join(({0: "0"} | _table(vocabulary))[i] for i in ids),
            "Your padding became the digit 0, which could be part of the text. What should id 0 become?",
        ),
        Mistake(
            "stops_at_padding",
            _stops_at_padding,
            "You stop at the first 0. What if something follows the padding, as the CLS token soon will?",
        ),
        Mistake(
            "place_in_the_dictionary",
            lambda ids, vocabulary: "".join(list(vocabulary)[i - 1] for i in ids if i),
            "You take the character at that place in the dictionary. Does a dictionary have to be in the "
            "order of its ids?",
            central=True,
        ),
        Mistake(
            "dictionary_not_turned",
            lambda ids, vocabulary: "".join(vocabulary[i] for i in ids if i),
            "You look up ids, but the keys are characters. How do you swap keys and values?",
        ),
        Mistake(
            "list_returned",
            lambda ids, vocabulary: list(decode(ids, vocabulary)),
            "You return a list of characters. Which method joins them into one text?",
        ),
        Mistake(
            "joined_with_spaces",
            lambda ids, vocabulary: " ".join(_table(vocabulary)[i] for i in ids if i),
            "You put a space between every two characters. What should be between them?",
        ),
        Mistake(
            "each_character_once",
            lambda ids, vocabulary: "".join(_table(vocabulary)[i] for i in dict.fromkeys(ids) if i),
            "An id that occurs again gives nothing the second time. Where do you lose the repetitions?",
        ),
        Mistake(
            "backwards",
            lambda ids, vocabulary: decode(ids, vocabulary)[::-1],
            "Your text comes out backwards. Which id should give its first character?",
        ),
        Mistake(
            "ends_stripped",
            lambda ids, vocabulary: decode(ids, vocabulary).strip(),
            "Spaces at the ends of the text are lost. Were they padding?",
        ),
        Mistake(
            "padding_taken_out_of_the_list",
            _padding_taken_out,
            "The text is right, but the caller's list has lost its zeros. How can you skip them without "
            "changing the list?",
        ),
    ),
    variants={
        "search": _by_search,
        "padding in the table": _by_table_with_padding,
        "step by step": _by_steps,
        "filter": lambda ids, vocabulary: "".join(_table(vocabulary)[i] for i in filter(None, ids)),
    },
)
