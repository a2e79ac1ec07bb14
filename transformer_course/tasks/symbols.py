"""Symbols of any kind (words, letters, sounds) with ids, for tasks whose two sides have vocabularies of their own."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

Example = tuple[list[int], list[int]]
"""The ids of a source, and those of its target, which has a start and an end."""


@dataclass(frozen=True)
class Symbols:
    """A vocabulary with ids from 3; 0 is padding, 1 the start, 2 the end.

    >>> words = Symbols.of(["the cat".split(), "the dog".split()])
    >>> words.encode(["dog", "cat"]), words.size
    ([4, 3], 6)
    >>> words.decode([1, 5, 3, 2, 0])
    ['the', 'cat']
    """

    symbols: tuple[str, ...]

    start_id: ClassVar[int] = 1
    end_id: ClassVar[int] = 2

    @classmethod
    def of(cls, sequences: Iterable[Iterable[str]]) -> "Symbols":
        """All symbols of these sequences, in alphabetical order."""
        return cls(tuple(sorted({symbol for sequence in sequences for symbol in sequence})))

    @property
    def size(self) -> int:
        """How many ids there are, padding, start and end included: a model's
        vocabulary size.
        """
        return len(self.symbols) + 3

    @cached_property
    def _ids(self) -> dict[Hashable, int]:
        return {symbol: place + 3 for place, symbol in enumerate(self.symbols)}

    def encode(self, sequence: Iterable[str]) -> list[int]:
        """The ids of a sequence.

        Raises:
            ValueError: for a symbol that isn't in the vocabulary.
        """
        try:
            return [self._ids[symbol] for symbol in sequence]
        except KeyError as missing:
            raise ValueError(f"{missing} is not in the vocabulary") from None

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The symbols up to the end, with neither padding nor start."""
        content = []
        for one in map(int, ids):
            if one == self.end_id:
                break
            if one > self.end_id:
                content.append(self.symbols[one - 3])
        return content

    def target(self, sequence: Sequence[str]) -> list[int]:
        """The ids of a target, with its start and its end."""
        return [self.start_id, *self.encode(sequence), self.end_id]
