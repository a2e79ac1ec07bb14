"""`encode`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.vocabulary import encode
from grader.authoring.aspects import USUAL, main, refused, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.drawing import draw_symbols, draw_text, draw_vocabulary

Vocabulary = dict[str, int]


def _texts(generator: np.random.Generator) -> list[Case]:
    def draw(count: int, length: int, unknown: str = "") -> dict[str, Any]:
        symbols = draw_symbols(generator, count)
        text = draw_text(generator, symbols, length)
        return {"text": text + unknown, "vocabulary": draw_vocabulary(generator, symbols)}

    spaced = draw_vocabulary(generator, [" ", *draw_symbols(generator, 4)])
    middle = draw_text(generator, list(spaced), 5)
    return [
        Case("on a short text", draw(5, 7), USUAL),
        Case("on a longer text", draw(9, 20), USUAL),
        Case("on a text of one character", draw(4, 1), frozenset({"one"})),
        Case("on an empty text", {**draw(4, 5), "text": ""}, frozenset({"empty"})),
        Case("on spaces at both ends", {"text": f" {middle} ", "vocabulary": spaced}, frozenset({"spaces"})),
        Case("on a text with one unknown character at its end", draw(4, 5, "?"), frozenset({"unknown"})),
        Case("on a text of unknown characters", {**draw(4, 5), "text": "?=?"}, frozenset({"unknown"})),
    ]


def _extended(text: str, vocabulary: Vocabulary) -> list[int]:
    return [vocabulary.setdefault(symbol, len(vocabulary) + 1) for symbol in text]


def _first_only(text: str, vocabulary: Vocabulary) -> list[int] | None:
    ids = []
    for symbol in text:
        ids.append(vocabulary[symbol])
        return ids
    return None


def _by_steps(text: str, vocabulary: Vocabulary) -> list[int]:
    ids = []
    for symbol in text:
        if symbol not in vocabulary:
            raise ValueError(f"unknown symbol {symbol!r}")
        ids.append(vocabulary[symbol])
    return ids


def _by_assert(text: str, vocabulary: Vocabulary) -> list[int]:
    assert all(symbol in vocabulary for symbol in text)
    return list(map(vocabulary.__getitem__, text))


ENCODE = Exercise(
    symbol="encode",
    points=1,
    cases=_texts,
    references=(encode,),
    aspects=(
        main("the right ids", meaning="Each character of the text becomes its id, in order."),
        special("one character", "one", meaning="A text of one character is encoded correctly too."),
        special("an empty text", "empty", meaning="An empty text is encoded correctly too."),
        special(
            "spaces count", "spaces", meaning="Spaces at either end of the text are encoded like any other character."
        ),
        refused("unknown characters are refused", "unknown", weight=5.0),
        untouched("the vocabulary stays as it was"),
    ),
    mistakes=(
        Mistake(
            "unknown_left_out",
            lambda text, vocabulary: [vocabulary[s] for s in text if s in vocabulary],
            "Unknown characters are dropped silently. How would anyone find out that part of the text is missing?",
            central=True,
        ),
        Mistake(
            "unknown_becomes_padding",
            lambda text, vocabulary: [vocabulary.get(s, 0) for s in text],
            "Unknown characters become 0, and 0 is padding. What should happen to a text that can't be encoded?",
            central=True,
        ),
        Mistake(
            "unknown_becomes_none",
            lambda text, vocabulary: [vocabulary.get(s) for s in text],
            "Unknown characters become None. Which way of looking up a key complains if it is missing?",
        ),
        Mistake(
            "return_inside_the_loop",
            _first_only,
            "Only the first character got an id. Is the return inside the loop?",
        ),
        Mistake(
            "vocabulary_extended",
            _extended,
            "Unknown characters get new ids, and the caller's vocabulary grows. Who else would know about those ids?",
        ),
        Mistake(
            "place_in_the_dictionary",
            lambda text, vocabulary: [list(vocabulary).index(s) + 1 for s in text],
            "You number the characters by their place in the dictionary. Where does the vocabulary itself say "
            "which id each one has?",
            central=True,
        ),
        Mistake(
            "ids_from_zero",
            lambda text, vocabulary: [vocabulary[s] - 1 for s in text],
            "Each id is one too small. Do ids from the vocabulary need any arithmetic?",
        ),
        Mistake(
            "each_character_once",
            lambda text, vocabulary: [vocabulary[s] for s in dict.fromkeys(text)],
            "A character that occurs again gets no id the second time. How many ids should a text have?",
        ),
        Mistake(
            "sorted_ids",
            lambda text, vocabulary: sorted(vocabulary[s] for s in text),
            "The ids are sorted. What is lost when 12 becomes 21?",
        ),
        Mistake(
            "backwards",
            lambda text, vocabulary: [vocabulary[s] for s in text][::-1],
            "The ids are in reverse order. Which character should the first id stand for?",
        ),
        Mistake(
            "character_codes",
            lambda text, vocabulary: [ord(s) for s in text if s in vocabulary or vocabulary[s]],
            "These are the computer's own character codes. Which argument holds the ids we chose?",
        ),
        Mistake(
            "whole_words",
            lambda text, vocabulary: [vocabulary[word] for word in text.split()],
            "You look up whole words, but the vocabulary contains characters. What does a loop over a text give you?",
        ),
        Mistake(
            "ends_stripped",
            lambda text, vocabulary: [vocabulary[s] for s in text.strip()],
            "Spaces at the ends of the text are lost. Which call removes them?",
        ),
        Mistake(
            "text_returned",
            lambda text, vocabulary: " ".join(str(vocabulary[s]) for s in text),
            "You return the ids as one string. Which type keeps numbers separate and in order?",
        ),
        Mistake(
            "generator_returned",
            lambda text, vocabulary: ((lambda s: vocabulary[s])(s) for s in text),
            "You return a generator: a promise of a list, not a list. Which brackets around a comprehension "
            "make it a list?",
        ),
        Mistake(
            "tensor_returned",
            lambda text, vocabulary: torch.tensor([vocabulary[s] for s in text]),
            "The ids are right, but they are in a tensor. Sequences still have different lengths here, so "
            "which type do we want?",
        ),
    ),
    variants={
        "plain lookup": lambda text, vocabulary: [vocabulary[symbol] for symbol in text],
        "map": lambda text, vocabulary: list(map(vocabulary.__getitem__, text)),
        "step by step": _by_steps,
        "with an assertion": _by_assert,
        "a tuple": lambda text, vocabulary: tuple(vocabulary[symbol] for symbol in text),
    },
)
