"""`build_vocabulary`: cases, mistakes and variants."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from course.vocabulary import build_vocabulary
from grader.authoring.aspects import CONTENT, USUAL, main, special, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_02.exercises.drawing import draw_symbols

PLAIN = "abcdefghkmnprstuvw0123456789"  # capitals have a case of their own


def _corpus(generator: np.random.Generator, counts: dict[str, int], texts: int) -> list[str]:
    """Texts in which each symbol occurs so often, and in which no text alone gives the right order."""
    everything = [symbol for symbol, count in counts.items() for _ in range(count)]
    while True:
        mixed = "".join(str(symbol) for symbol in generator.permutation(everything))
        places = sorted(int(place) for place in generator.choice(np.arange(1, len(mixed)), texts - 1, replace=False))
        corpus = [mixed[a:b] for a, b in zip([0, *places], [*places, len(mixed)], strict=True)]
        ranked = [symbol for symbol, _ in Counter(mixed).most_common()]
        others: list[list[str]] = [
            list(dict.fromkeys(mixed)),
            sorted(ranked),
            ranked[::-1],
            _ranked(corpus[:1]),
            _ranked("".join(dict.fromkeys(text)) for text in corpus),
        ]
        if texts == 1 or all(other != ranked for other in others):
            return corpus


def _corpora(generator: np.random.Generator) -> list[Case]:
    def counts(number: int) -> dict[str, int]:
        """How often each symbol occurs; the alphabet must not give the right order by chance."""
        while True:
            symbols = draw_symbols(generator, number, PLAIN)
            if symbols not in (sorted(symbols), sorted(symbols, reverse=True)):
                return {symbol: 2 + i for i, symbol in enumerate(symbols)}

    cases = [
        Case("on a few short texts", {"corpus": _corpus(generator, counts(4), 3)}, USUAL),
        Case("on more texts", {"corpus": _corpus(generator, counts(7), 6)}, USUAL),
        Case(
            "on a corpus of one text",
            {"corpus": _corpus(generator, counts(5), 1)},
            frozenset({"one"}),
        ),
    ]
    capital = "ABCDEFGH"[int(generator.integers(8))]
    both = {capital: 3, capital.lower(): 6, " ": 11, "\n": 4, "é": 2, "Q": 1}
    cases.append(
        Case(
            "on capitals, spaces and line breaks",
            {"corpus": _corpus(generator, both, 3)},
            frozenset({"every"}),
        )
    )
    cases.append(Case("on characters that are equally frequent", {"corpus": _tied(generator)}, frozenset({"ties"})))
    return cases


def _tied(generator: np.random.Generator) -> list[str]:
    """Two groups of equally frequent symbols, whose first appearances are in no order."""
    while True:
        symbols = draw_symbols(generator, 6, PLAIN)
        corpus = _corpus(generator, {symbol: 2 + 2 * (i % 2) for i, symbol in enumerate(symbols)}, 3)
        right = list(build_vocabulary(corpus))
        wrong = [
            sorted(right, key=lambda s: (-Counter("".join(corpus))[s], s)),
            sorted(right, key=lambda s: (Counter("".join(corpus))[s], s), reverse=True),
            _latest_first(corpus),
        ]
        if all(other != right for other in wrong) and wrong[2] not in wrong[:2]:
            return corpus


def _ranked(corpus: Iterable[str]) -> list[str]:
    """All symbols, the most frequent first, ties in order of first appearance."""
    return [symbol for symbol, _ in Counter("".join(corpus)).most_common()]


def _latest_first(corpus: list[str]) -> list[str]:
    counts = Counter("".join(corpus))
    return sorted(counts, key=lambda symbol: counts[symbol])[::-1]


def _numbered(rank: Callable[[list[str]], Iterable[str]], start: int = 1) -> Callable[[list[str]], dict[str, int]]:
    """A vocabulary whose ids count the symbols in the order of `rank`."""
    return lambda corpus: {symbol: place for place, symbol in enumerate(rank(corpus), start)}


def _by_count(corpus: list[str], tie: Callable[[str], Any], reverse: bool = False) -> list[str]:
    counts = Counter("".join(corpus))
    return sorted(counts, key=lambda s: (counts[s] if reverse else -counts[s], tie(s)), reverse=reverse)


def _keep(observation: Observation, case: Case) -> Observation:
    """Which symbols, which ids, and in which order: three things that can be right on their own."""
    vocabulary = observation["output"]
    if not isinstance(vocabulary, dict) or not all(isinstance(i, int) for i in vocabulary.values()):
        return {**observation, "symbols": vocabulary, "ids": vocabulary, "order": vocabulary}
    return {
        "symbols": sorted(vocabulary),
        "ids": sorted(vocabulary.values()),
        "order": sorted(vocabulary, key=lambda symbol: vocabulary[symbol]),
        "arguments": observation["arguments"],
    }


def _counted_by_hand(corpus: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in corpus:
        for symbol in text:
            counts[symbol] = counts.get(symbol, 0) + 1
    vocabulary: dict[str, int] = {}
    for symbol in sorted(counts, key=lambda symbol: counts[symbol], reverse=True):
        vocabulary[symbol] = len(vocabulary) + 1
    return vocabulary


def _by_repeated_maximum(corpus: list[str]) -> dict[str, int]:
    text = "".join(corpus)
    left = list(dict.fromkeys(text))
    vocabulary: dict[str, int] = {}
    while left:
        best = max(left, key=text.count)
        left.remove(best)
        vocabulary[best] = len(vocabulary) + 1
    return vocabulary


def _by_first_place(corpus: list[str]) -> dict[str, int]:
    text = "".join(corpus)
    ranked = sorted(set(text), key=lambda symbol: (-text.count(symbol), text.index(symbol)))
    found: defaultdict[str, int] = defaultdict(int)
    for i, symbol in enumerate(ranked):
        found[symbol] = i + 1
    return found


def _corpus_emptied(corpus: list[str]) -> dict[str, int]:
    text = ""
    while corpus:
        text += corpus.pop(0)
    return build_vocabulary([text])


_on = partial(special, keys=("symbols", "ids", "order"))

BUILD_VOCABULARY = Exercise(
    symbol="build_vocabulary",
    points=2,
    cases=_corpora,
    references=(build_vocabulary,),
    canonical=_keep,
    aspects=(
        Aspect(
            "every character once",
            keys=("symbols",),
            kinds=CONTENT,
            weight=2.0,
            tags=USUAL,
            meaning="Every character in the corpus has an entry, and nothing else does.",
        ),
        Aspect(
            "ids 1, 2, 3, ...",
            keys=("ids",),
            kinds=CONTENT,
            tags=USUAL,
            meaning="The ids are 1, 2, 3, and so on; 0 is reserved for padding.",
        ),
        main("most frequent first", keys=("order",), meaning="The more frequent a character is, the smaller its id."),
        _on(
            "ties: first seen first",
            "ties",
            meaning="Of two equally frequent characters, the one that appears first has the smaller id.",
        ),
        _on(
            "capitals, spaces, line breaks",
            "every",
            meaning="Capitals, spaces and line breaks count as characters of their own.",
        ),
        _on("a corpus of one", "one", meaning="A corpus of a single text gives the right vocabulary too."),
        untouched("the corpus stays as it was"),
    ),
    mistakes=(
        Mistake(
            "ids_from_zero",
            _numbered(_ranked, start=0),
            "The order is right, but your ids start at 0. Which id has to stay free, and what for?",
            central=True,
        ),
        Mistake(
            "rarest_first",
            _numbered(lambda corpus: _by_count(corpus, lambda s: "".join(corpus).index(s))[::-1]),
            "The rarest character got id 1. Which end of the ranking should come first?",
            central=True,
        ),
        Mistake(
            "order_of_appearance",
            _numbered(lambda corpus: dict.fromkeys("".join(corpus))),
            "Your ids follow the order in which the characters first appear. Which character should get the "
            "smallest id?",
        ),
        Mistake(
            "alphabetical",
            _numbered(lambda corpus: sorted(set("".join(corpus)))),
            "Your ids follow the alphabet. What should decide the order instead?",
        ),
        Mistake(
            "ties_by_alphabet",
            _numbered(lambda corpus: _by_count(corpus, str)),
            "You put equally frequent characters in alphabetical order. Which of them appeared first?",
        ),
        Mistake(
            "ties_backwards_in_the_alphabet",
            _numbered(lambda corpus: _by_count(corpus, str, reverse=True)),
            "You put equally frequent characters in reverse alphabetical order, which happens when (count, character) "
            "pairs are sorted in reverse. Which of the characters appeared first?",
        ),
        Mistake(
            "ties_latest_first",
            _numbered(_latest_first),
            "Among equally frequent characters, you put the one that appeared last in front. What does reversing a "
            "sorted list do to its ties?",
        ),
        Mistake(
            "texts_counted",
            _numbered(lambda corpus: _ranked("".join(dict.fromkeys(text)) for text in corpus)),
            "You count how many texts contain a character. What if it occurs twice in one of them?",
            central=True,
        ),
        Mistake(
            "first_text_only",
            lambda corpus: build_vocabulary(corpus[:1]),
            "Your vocabulary covers only the first text. Is the return inside the loop?",
        ),
        Mistake(
            "last_text_only",
            lambda corpus: build_vocabulary(corpus[-1:]),
            "Your vocabulary covers only the last text. Is the counter created anew inside the loop?",
        ),
        Mistake(
            "whole_texts",
            _numbered(lambda corpus: [text for text, _ in Counter(corpus).most_common()]),
            "Whole texts got ids. How do you get from a text to its characters?",
        ),
        Mistake(
            "turned_round",
            lambda corpus: {place: symbol for symbol, place in build_vocabulary(corpus).items()},
            "Your dictionary goes from ids to characters. Which of the two will we look up?",
        ),
        Mistake(
            "counts_returned",
            lambda corpus: dict(Counter("".join(corpus)).most_common()),
            "Your dictionary says how often each character occurs. Which number should be there instead?",
        ),
        Mistake(
            "list_returned",
            _ranked,
            "You return the characters in the right order, as a list. How does each of them get its number?",
        ),
        Mistake(
            "padding_added",
            lambda corpus: {"<pad>": 0} | build_vocabulary(corpus),
            "You added padding to the vocabulary. Is it a character in the corpus?",
        ),
        Mistake(
            "small_letters_only",
            lambda corpus: build_vocabulary([text.lower() for text in corpus]),
            "Your capitals became lower-case letters. Could decoding ever bring them back?",
        ),
        Mistake(
            "blanks_dropped",
            lambda corpus: build_vocabulary(["".join(text.split()) for text in corpus]),
            "Spaces and line breaks are missing. Aren't they characters too?",
        ),
        Mistake(
            "corpus_emptied",
            _corpus_emptied,
            "The vocabulary is right, but the caller's corpus is empty afterwards. How can you read a list "
            "without removing anything from it?",
        ),
    ),
    variants={
        "one long text": lambda corpus: build_vocabulary(["".join(corpus)]),
        "counted by hand": _counted_by_hand,
        "repeated maximum": _by_repeated_maximum,
        "first place as tie": _by_first_place,
        "zip": lambda corpus: dict(zip(_ranked(corpus), range(1, 10_000), strict=False)),
        "any order of the dictionary": lambda corpus: dict(reversed(build_vocabulary(corpus).items())),
    },
)
