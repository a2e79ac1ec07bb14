"""`build_vocabulary`: how it is tried."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from cellcheck.authoring.aspects import CONTENT, USUAL, main, special, untouched
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_02.drawing import draw_symbols

PLAIN = "abcdefghkmnprstuvw0123456789"  # capitals have a case of their own
ALL = ("symbols", "ids", "order")
TIES = special(
    "ties: first seen first",
    meaning="Of two equally frequent characters, the one that appears first has the smaller id.",
    keys=ALL,
)
EVERY = special(
    "capitals, spaces, line breaks",
    meaning="Capitals, spaces and line breaks count as characters of their own.",
    keys=ALL,
)
ONE = special("a corpus of one", meaning="A corpus of a single text gives the right vocabulary too.", keys=ALL)


def _ranked(corpus: Iterable[str]) -> list[str]:
    """All symbols, the most frequent first, ties in order of first appearance."""
    return [symbol for symbol, _ in Counter("".join(corpus)).most_common()]


def _corpus(generator: np.random.Generator, counts: dict[str, int], texts: int) -> list[str]:
    """Texts in which each symbol occurs so often, and in which no text alone gives the right order."""
    everything = [symbol for symbol, count in counts.items() for _ in range(count)]
    while True:
        mixed = "".join(str(symbol) for symbol in generator.permutation(everything))
        places = sorted(int(place) for place in generator.choice(np.arange(1, len(mixed)), texts - 1, replace=False))
        corpus = [mixed[a:b] for a, b in zip([0, *places], [*places, len(mixed)], strict=True)]
        ranked = _ranked(mixed)
        others: list[list[str]] = [
            list(dict.fromkeys(mixed)),
            sorted(ranked),
            ranked[::-1],
            _ranked(corpus[:1]),
            _ranked("".join(dict.fromkeys(text)) for text in corpus),
        ]
        if texts == 1 or all(other != ranked for other in others):
            return corpus


def _tied(generator: np.random.Generator) -> list[str]:
    """Two groups of equally frequent symbols, whose first appearances are in no order."""
    while True:
        symbols = draw_symbols(generator, 6, PLAIN)
        corpus = _corpus(generator, {symbol: 2 + 2 * (i % 2) for i, symbol in enumerate(symbols)}, 3)
        counts = Counter("".join(corpus))
        alphabetical = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
        backwards = sorted(counts, key=lambda symbol: (counts[symbol], symbol), reverse=True)
        latest_first = sorted(counts, key=lambda symbol: counts[symbol])[::-1]
        if _ranked(corpus) not in (alphabetical, backwards, latest_first) and latest_first not in (
            alphabetical,
            backwards,
        ):
            return corpus


def cases(generator: np.random.Generator) -> list[Case]:
    def counts(number: int) -> dict[str, int]:
        """How often each symbol occurs; the alphabet must not give the right order by chance."""
        while True:
            symbols = draw_symbols(generator, number, PLAIN)
            if symbols not in (sorted(symbols), sorted(symbols, reverse=True)):
                return {symbol: 2 + i for i, symbol in enumerate(symbols)}

    few, more, one = (_corpus(generator, counts(number), texts) for number, texts in ((4, 3), (7, 6), (5, 1)))
    capital = "ABCDEFGH"[int(generator.integers(8))]
    both = {capital: 3, capital.lower(): 6, " ": 11, "\n": 4, "é": 2, "Q": 1}
    return [
        Case.of("on a few short texts", corpus=few),
        Case.of("on more texts", corpus=more),
        Case.of("on a corpus of one text", ONE, corpus=one),
        Case.of("on capitals, spaces and line breaks", EVERY, corpus=_corpus(generator, both, 3)),
        Case.of("on characters that are equally frequent", TIES, corpus=_tied(generator)),
    ]


def in_parts(observation: Observation, case: Case) -> Observation:
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


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=2,
    cases=cases,
    canonical=in_parts,
    called={
        "symbols": "the list of your characters",
        "ids": "the list of your ids",
        "order": "the list of your characters, by id",
    },
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
            weight=4.0,
            tags=USUAL,
            meaning="The ids are 1, 2, 3, and so on; 0 is reserved for padding.",
        ),
        main("most frequent first", keys=("order",), meaning="The more frequent a character is, the smaller its id."),
        TIES,
        EVERY,
        ONE,
        untouched("the corpus stays as it was"),
    ),
)
