"""Spelling to sounds: "through" in, "TH R UW" out. Real words, from the CMU Pronouncing Dictionary.

The sounds are the dictionary's 39 phonemes, without the marks for stress.
"""

import gzip
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from transformer_course.data import data_file
from transformer_course.tasks.symbols import Example, Symbols

Sounds = tuple[str, ...]
LETTERS = Symbols(tuple("abcdefghijklmnopqrstuvwxyz"))
LONGEST = 16
"""No word has more letters, and no pronunciation more sounds."""
ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "y")


@dataclass(frozen=True)
class SpellingData:
    """Words with all their pronunciations: some to learn from, others to be tested on."""

    train: dict[str, list[Sounds]]
    test: dict[str, list[Sounds]]
    sounds: Symbols

    def examples(self, words: Sequence[str] | None = None) -> list[Example]:
        """Training words as ids, each with its first pronunciation."""
        words = list(self.train) if words is None else words
        return [(LETTERS.encode(word), self.sounds.target(self.train[word][0])) for word in words]


@cache
def cmudict() -> dict[str, list[Sounds]]:
    """The CMU Pronouncing Dictionary: each word with its pronunciations, the usual one
    first. A vowel has a digit for its stress.

    >>> cmudict()["grape"]
    [('G', 'R', 'EY1', 'P')]
    """
    entries: dict[str, list[Sounds]] = {}
    for line in gzip.decompress(data_file("cmudict.dict.gz").read_bytes()).decode("utf-8").splitlines():
        word, *sounds = line.partition("#")[0].split()  # a remark may follow
        entries.setdefault(word.partition("(")[0], []).append(tuple(sounds))  # grape(2) is a second way to say it
    return entries


@cache
def pronunciations() -> dict[str, list[Sounds]]:
    """Each word of two to 16 letters from a to z, with its pronunciations, without
    stress, in the order of the dictionary.

    >>> pronunciations()["record"]
    [('R', 'AH', 'K', 'AO', 'R', 'D'), ('R', 'EH', 'K', 'ER', 'D'), ('R', 'IH', 'K', 'AO', 'R', 'D')]
    """
    plain: dict[str, list[Sounds]] = {}
    for word, spoken in cmudict().items():
        if re.fullmatch(rf"[a-z]{{2,{LONGEST}}}", word):
            without_stress = [tuple(sound.rstrip("012") for sound in one) for one in spoken]
            different = [one for one in dict.fromkeys(without_stress) if len(one) <= LONGEST]
            if different:
                plain[word] = different
    return plain


def spelling_task(seed: int, train: int | None = None, test: int = 2000) -> SpellingData:
    """Training and test words from one draw: no word is in both. `train` = None takes
    all that are left.

    >>> data = spelling_task(seed=0, train=1000, test=200)
    >>> len(data.train), len(data.test), len(data.sounds.symbols), set(data.train) & set(data.test)
    (1000, 200, 39, set())
    """
    words = pronunciations()
    order = list(words)
    random.Random(seed).shuffle(order)
    sounds = Symbols.of(one for spoken in words.values() for one in spoken)
    learnt = order[test:] if train is None else order[test : test + train]
    return SpellingData({word: words[word] for word in learnt}, {word: words[word] for word in order[:test]}, sounds)


def has_relative(word: str, words: Mapping[str, object]) -> bool:
    """Is there a word in `words` that differs only by an ending such as -s, -ed, -ing
    or -ly?

    >>> has_relative("whales", {"whale": []}), has_relative("whale", {"whaling": []})
    (True, False)
    """
    shorter = (word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending))
    longer = (word + ending for ending in ENDINGS)
    return any(one in words for one in (*shorter, *longer))


def edits(answer: Sequence[str], wanted: Sequence[str]) -> int:
    """How many sounds must be changed, left out or put in to turn one into the other.

    >>> edits(["K", "AE", "T"], ["K", "AE", "T", "S"])
    1
    """
    row = list(range(len(wanted) + 1))
    for place, one in enumerate(answer, start=1):
        before, row[0] = row[0], place
        for column, other in enumerate(wanted, start=1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (one != other))
    return row[-1]


@dataclass(frozen=True)
class Score:
    """Shares from 0 to 1. `words`: every sound is right. `sounds`: 1 - edits per sound."""

    words: float
    sounds: float


def score(answers: Mapping[str, Sequence[str]], wanted: Mapping[str, Sequence[Sounds]]) -> Score:
    """Compare each word of `wanted` with the pronunciation that is closest to what was
    said.

    >>> score({"cats": ["K", "AE", "T"]}, {"cats": [("K", "AE", "T", "S")]})
    Score(words=0.0, sounds=0.75)

    Raises:
        ValueError: when there is no word to score.
    """
    if not wanted:
        raise ValueError("there is no word to score")
    right = wrong = length = 0
    for word, spoken in wanted.items():
        distance, best = min(((edits(answers[word], one), one) for one in spoken), key=lambda pair: pair[0])
        right += distance == 0
        wrong += distance
        length += len(best)
    return Score(right / len(wanted), 1 - wrong / length)


def letter_lookup(train: Mapping[str, Sequence[Sounds]], context: int = 0) -> Callable[[str], list[str]]:
    """The baseline: each letter has its own sound, whatever word it is in.

    It learns from the words that have as many sounds as letters: there, the n-th letter
    is taken to make the n-th sound. With `context` = 1 it looks up the letter together
    with its two neighbours, and falls back on the letter alone. A doubled letter sounds
    once.

    >>> say = letter_lookup({"cat": [("K", "AE", "T")], "act": [("AE", "K", "T")]})
    >>> say("attack")
    ['AE', 'T', 'AE', 'K']
    """
    heard: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, (first, *_) in train.items():
        if len(first) == len(word):
            for place, sound in enumerate(first):
                for width in {0, context}:
                    heard[_around(word, place, width)][sound] += 1
    sounds = {letters: counts.most_common(1)[0][0] for letters, counts in heard.items()}

    def say(word: str) -> list[str]:
        spoken: list[str] = []
        for place in range(len(word)):
            sound = sounds.get(_around(word, place, context)) or sounds.get(word[place])
            if sound and spoken[-1:] != [sound]:
                spoken.append(sound)
        return spoken

    return say


def _around(word: str, place: int, width: int) -> str:
    """The letter at `place`, with `width` letters on either side; `_` beyond the ends."""
    padded = "_" * width + word + "_" * width
    return padded[place : place + 2 * width + 1]
