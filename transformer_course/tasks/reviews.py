"""Film reviews, a sentence each, that praise or pan: 10,662 of them, half and half.

Pang and Lee, "Seeing stars: Exploiting class relationships for sentiment categorization with respect to rating
scales", ACL 2005: the sentence polarity data set, version 1.0 (CC BY 4.0). Its sentences come in lower case, with
blanks around punctuation. It is downloaded once; see `transformer_course.downloads`.
"""

import random
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from transformer_course.downloads import downloaded

ARCHIVE = "rt-polarity/sentence_polarity.zip"
UNKNOWN = 1
"""The id of every word that isn't in the vocabulary. Id 0 is padding."""

Review = tuple[str, int]  # ("a masterpiece .", 1): the sentence, and 1 for praise or 0 for a pan


@dataclass(frozen=True)
class Reviews:
    """Reviews to learn from, others to choose by, and others to be tested on; no sentence is in two of them."""

    train: list[Review]
    val: list[Review]
    test: list[Review]


def reviews(seed: int = 0, val: int = 1000, test: int = 2000) -> Reviews:
    """All different sentences, shuffled and split. A sentence with both labels is left out.

    Raises:
        transformer_course.downloads.NotAvailable: when the file isn't here and can't be downloaded;
            the message says what to do.
    """
    labels: dict[str, set[int]] = {}
    with zipfile.ZipFile(downloaded(ARCHIVE)) as archive:
        for label, kind in enumerate(("neg", "pos")):
            for line in archive.read(f"sentence_polarity/rt-polarity.{kind}").decode("utf-8").splitlines():
                labels.setdefault(" ".join(line.split()), set()).add(label)
    labelled = [(text, min(both)) for text, both in labels.items() if len(both) == 1]
    random.Random(seed).shuffle(labelled)
    return Reviews(labelled[val + test :], labelled[:val], labelled[val : val + test])


def word_vocabulary(texts: Iterable[str], at_least: int = 2) -> dict[str, int]:
    """The id of each word that occurs at least so often, the most frequent first, from 2 on.

    >>> word_vocabulary(["a film is a film", "a bore"])
    {'a': 2, 'film': 3}
    """
    counts = Counter(word for text in texts for word in text.split())
    known = [word for word, count in counts.most_common() if count >= at_least]
    return {word: place for place, word in enumerate(known, start=UNKNOWN + 1)}


def as_tokens(
    reviews: Sequence[Review], vocabulary: dict[str, int], max_length: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The ids of each review's words, padded on the right with 0 or cut to (n,
    max_length), and the labels (n,).

    >>> as_tokens([("a fine film", 1)], {"a": 2, "film": 3}, max_length=5)
    (tensor([[2, 1, 3, 0, 0]]), tensor([1]))
    """
    tokens = torch.zeros(len(reviews), max_length, dtype=torch.long)
    for row, (text, _) in zip(tokens, reviews, strict=True):
        ids = [vocabulary.get(word, UNKNOWN) for word in text.split()[:max_length]]
        row[: len(ids)] = torch.tensor(ids)
    return tokens, torch.tensor([label for _, label in reviews])
