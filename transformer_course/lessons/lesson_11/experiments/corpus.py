"""Texts as ids: names in characters, and a book in characters or byte pairs."""

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import torch

from transformer_course.byte_pairs import byte_pair_ids, byte_pair_merges, byte_pair_vocabulary, ids_to_text
from transformer_course.data import moby_dick
from transformer_course.downloads import NotAvailable
from transformer_course.tasks.first_names import END, shuffled_names
from transformer_course.tasks.shakespeare import shakespeare

EXAMINED = 20_000
"""Characters of the last tenth of a book on which models are compared."""
LEARNT_FROM = 200_000
"""Characters from which byte pairs are learnt: more would take long, and change little."""
_PIECES = re.compile(r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s")


@dataclass(frozen=True)
class Book:
    """A text and its title."""

    title: str
    text: str

    @property
    def to_learn(self) -> str:
        """The first nine tenths."""
        return self.text[: len(self.text) * 9 // 10]

    @property
    def to_examine(self) -> str:
        """20,000 characters of the last tenth."""
        return self.text[len(self.to_learn) :][:EXAMINED]


@dataclass(frozen=True)
class Corpus:
    """A text in ids: a part to learn from, and another to be examined on."""

    title: str
    vocab_size: int
    train: torch.Tensor
    held_out: torch.Tensor
    encode: Callable[[str], torch.Tensor]
    """A text -> ids (length,)."""
    decode: Callable[[Sequence[int] | torch.Tensor], str]
    """Ids -> the text."""


def in_characters(title: str, to_learn: str, to_examine: str) -> Corpus:
    """A character is a token."""
    characters = sorted(set(to_learn + to_examine))
    number = {character: i for i, character in enumerate(characters)}

    def encode(text: str) -> torch.Tensor:
        return torch.tensor([number[character] for character in text], dtype=torch.long)

    def decode(ids: Sequence[int] | torch.Tensor) -> str:
        return "".join(characters[int(i)] for i in ids)

    return Corpus(title, len(characters), encode(to_learn), encode(to_examine), encode, decode)


@cache
def in_byte_pairs(title: str, to_learn: str, to_examine: str, num_merges: int = 300) -> Corpus:
    """Byte pairs as you wrote them in lesson 2, learnt from the beginning of the text."""
    merges = byte_pair_merges(_PIECES.findall(to_learn[:LEARNT_FROM]), num_merges)
    vocabulary = byte_pair_vocabulary(merges)
    known: dict[str, list[int]] = {}

    def encode(text: str) -> torch.Tensor:
        ids: list[int] = []
        for piece in _PIECES.findall(text):
            if piece not in known:
                known[piece] = byte_pair_ids(piece, merges, vocabulary)
            ids += known[piece]
        return torch.tensor(ids, dtype=torch.long)

    def decode(ids: Sequence[int] | torch.Tensor) -> str:
        tokens = [int(i) for i in ids]
        for first, last in product(range(4), range(4)):  # a piece of a text may begin or end within a character
            with contextlib.suppress(UnicodeDecodeError):
                return ids_to_text(tokens[first : len(tokens) - last], vocabulary)
        return "".join(ids_to_text([i], vocabulary) if 0 < i <= 128 or i > 256 else "?" for i in tokens)

    return Corpus(title, 257 + len(vocabulary), encode(to_learn), encode(to_examine), encode, decode)


def names(seed: int = 0) -> Corpus:
    """First names in random order, one a line, in characters. A tenth of them is held out."""
    shuffled = shuffled_names(seed)
    cut = len(shuffled) * 9 // 10
    parts = [END + END.join(part) + END for part in (shuffled[:cut], shuffled[cut:])]
    return in_characters("first names", *parts)


def book() -> Book:
    """Scenes from Shakespeare; the beginning of Moby-Dick where they can't be had, and a sentence that says so."""
    try:
        return Book("Shakespeare", shakespeare())
    except NotAvailable as problem:
        print(f"{problem} Until then, the model reads Moby-Dick, and the numbers in the text don't fit.")
        return Book("Moby-Dick", moby_dick())


def other_style(read: Book) -> Book:
    """Another text in another style: Moby-Dick, or the names for a model that has read that."""
    if read.title != "Moby-Dick":
        return Book("Moby-Dick", moby_dick())
    return Book("first names", END.join(shuffled_names()))
