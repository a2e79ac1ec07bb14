"""English-German sentences about photographs, from Multi30k: downloaded once, never part of the course.

Source: Elliott et al., "Multi30K: Multilingual English-German Image Descriptions", 2016.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from transformer_course.downloads import downloaded

Split = Literal["train", "val", "test_2016_flickr"]
Pair = tuple[str, str]


def multi30k(split: Split) -> list[Pair]:
    """The pairs (English, German) of one part: 29,000 to learn from ("train"), 1,014
    ("val") and 1,000 ("test_2016_flickr").

    Raises:
        transformer_course.downloads.NotAvailable: when the files aren't here and can't be
            downloaded; the message says what to do.
    """
    sides = [_lines(f"multi30k/{split}.{language}.gz") for language in ("en", "de")]
    return list(zip(*sides, strict=True))


def words_of(sentence: str) -> list[str]:
    """Words and punctuation, in lower case.

    >>> words_of("Two dogs run.")
    ['two', 'dogs', 'run', '.']
    """
    return re.findall(r"\w+|[^\w\s]", sentence.lower())


def copy(sentence: str) -> str:
    """The first baseline: leave the English as it is.

    Names, numbers and punctuation are right that way.
    """
    return sentence


def word_by_word(pairs: Sequence[Pair]) -> Callable[[str], str]:
    """The second baseline: each word has one translation, and the order stays.

    The translation of a word is the German word that keeps it company most faithfully:
    the one with the largest 2 * together / (times of one + times of the other), counted
    in sentences (Dice's coefficient). An unknown word stays as it is.

    >>> pairs = [("a dog", "ein hund"), ("a cat", "eine katze"), ("dog and cat", "hund und katze")]
    >>> word_by_word(pairs)("cat and dog")
    'Katze und hund'
    """
    english: Counter[str] = Counter()
    german: Counter[str] = Counter()
    together: dict[str, Counter[str]] = {}
    for source, target in pairs:
        there = set(filter(str.isalnum, words_of(target)))  # punctuation translates nothing, and stays as it is
        german.update(there)
        for word in filter(str.isalnum, set(words_of(source))):
            english[word] += 1
            together.setdefault(word, Counter()).update(there)
    spelling = _usual_spelling(target for _, target in pairs)
    best = {
        word: max(counts, key=lambda other: (2 * counts[other] / (english[word] + german[other]), other))
        for word, counts in together.items()
        if counts
    }

    def translate(sentence: str) -> str:
        translated = [best.get(word, word) for word in words_of(sentence)]
        text = re.sub(r" ([.,!?;:)])", r"\1", " ".join(spelling.get(word, word) for word in translated))
        return text[:1].upper() + text[1:]

    return translate


def _usual_spelling(sentences: Iterable[str]) -> dict[str, str]:
    """Each word as it is mostly written within a sentence: German nouns have capitals."""
    seen: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for word in re.findall(r"\w+", sentence)[1:]:  # the first one has a capital anyway
            seen.setdefault(word.lower(), Counter())[word] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in seen.items()}


def _lines(name: str) -> list[str]:
    return gzip.decompress(downloaded(name).read_bytes()).decode("utf-8").splitlines()
