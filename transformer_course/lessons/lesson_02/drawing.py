"""Texts, vocabularies and words, drawn so that every mistake shows."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from transformer_course.byte_pairs import merge_pair

SYMBOLS = "abcdefghkmnprstuvwxyzABCDEFGH0123456789-+.,;!"
LETTERS = "abcdefghklmnoprstuvw"
FOREIGN = ["é", "ï", "ß", "€", "鯨", "🐋"]  # two, three and four bytes each


def draw_symbols(generator: np.random.Generator, count: int, pool: str = SYMBOLS) -> list[str]:
    """Different characters, in any order."""
    return [str(symbol) for symbol in generator.permutation(list(pool))[:count]]


def draw_cases(generator: np.random.Generator, count: int, pool: str = SYMBOLS) -> list[str]:
    """Different characters, in any order: among them are a letter and its capital."""
    letter = str(generator.choice(list("abcdefgh")))
    both = [letter, letter.upper()]
    others = draw_symbols(generator, count - 2, "".join(symbol for symbol in pool if symbol not in both))
    return [str(symbol) for symbol in generator.permutation([*both, *others])]


def draw_vocabulary(generator: np.random.Generator, symbols: Sequence[str]) -> dict[str, int]:
    """{symbol: id} with the ids 1, 2, ... in another order than the dictionary's own."""
    ids = list(range(1, len(symbols) + 1))
    while True:
        drawn = [int(place) for place in generator.permutation(ids)]
        if all(place != i for i, place in enumerate(drawn, start=1)):
            return dict(zip(symbols, drawn, strict=True))


def draw_text(generator: np.random.Generator, symbols: Sequence[str], length: int) -> str:
    """A text in which a symbol comes twice, and which is not in order in any way."""
    while True:
        text = "".join(str(symbol) for symbol in generator.choice(list(symbols), length))
        if length < 4 or (2 < len(set(text)) < length and text not in (text[::-1], "".join(sorted(text)))):
            return text


def best_pairs(pieces: dict[str, list[str]], counts: Counter[str]) -> list[tuple[str, str]]:
    """The most frequent pairs: several where there is a tie."""
    pairs: dict[tuple[str, str], int] = {}
    for word, tokens in pieces.items():
        often = counts[word]
        for pair in pairwise(tokens):
            pairs[pair] = pairs.get(pair, 0) + often
    most = max(pairs.values(), default=0)
    return [pair for pair, count in pairs.items() if count == most]


def ties_on_the_way(words: Sequence[str], num_merges: int) -> bool:
    """Whether in one of the first merges several pairs are equally frequent."""
    counts = Counter(words)
    pieces = {word: list(word) for word in counts}
    for _ in range(num_merges):
        best = best_pairs(pieces, counts)
        if not best:
            break
        if len(best) > 1:
            return True
        pieces = {word: merge_pair(tokens, best[0]) for word, tokens in pieces.items()}
    return False


def draw_words(
    generator: np.random.Generator, letters: Sequence[str], different: int = 6, most: int = 30, longest: int = 6
) -> list[str]:
    """Words with repetitions, shuffled; some letters are neighbours more often than others."""
    share = np.arange(len(letters), 0, -1, dtype=float)
    up_to = np.cumsum(share / share.sum())
    words: list[str] = []
    for _ in range(different):
        length = int(generator.integers(3, longest + 1))
        word = "".join(letters[place] for place in up_to.searchsorted(generator.random(length), side="right").tolist())
        words += [word] * int(generator.integers(1, most + 1))
    return [words[place] for place in generator.permutation(len(words)).tolist()]


def draw_merges(generator: np.random.Generator, doubled: bool = False) -> list[tuple[str, str]]:
    """Merges of letters, some of merged tokens; with `doubled`, two of them make the same token."""
    a, b, c, d, e = draw_symbols(generator, 5, LETTERS)
    merges = [(a, b), (c, d), (a + b, c)]
    return [*merges, (b, c), (a, b + c), (c, e), (d, e)] if doubled else [*merges, (c + d, e), (e, a)]
