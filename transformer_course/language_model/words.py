"""The byte pairs of a published model: ids for a text, and the text for ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from transformer_course.byte_pairs import byte_pair_ids, byte_pair_vocabulary, ids_to_text

PIECE = r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s"
"""Words, signs and white space; a space belongs to what follows it. No merge spans two pieces."""


@dataclass(frozen=True)
class Words:
    """Text to ids and back, by the functions of lesson 2.

    >>> words = Words((("t", "h"), ("th", "e")))
    >>> words.encode("the\\nï"), words.decode(words.encode("the\\nï"))
    (tensor([258,  11, 196, 176]), 'the\\nï')
    """

    merges: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        """How many ids there are: that of the end, the bytes, and one for each merged token."""
        return 257 + len(self._vocabulary)

    def encode(self, text: str) -> torch.Tensor:
        """The ids of a text."""
        ids: list[int] = []
        for piece in pieces(text):
            if piece not in self._known:
                self._known[piece] = byte_pair_ids(piece, list(self.merges), self._vocabulary)
            ids += self._known[piece]
        return torch.tensor(ids, dtype=torch.long)

    def decode(self, ids: Sequence[int] | torch.Tensor) -> str:
        """The text of ids; where a model writes half a character, a question mark for each id that isn't plain."""
        tokens = [int(i) for i in ids]
        try:
            return ids_to_text(tokens, self._vocabulary)
        except UnicodeDecodeError:
            return "".join(ids_to_text([i], self._vocabulary) if i <= 128 or i > 256 else "?" for i in tokens)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return byte_pair_vocabulary(list(self.merges))

    @cached_property
    def _known(self) -> dict[str, list[int]]:
        return {}


def pieces(text: str) -> list[str]:
    """A text cut into pieces.

    >>> pieces("a mouse, and")
    ['a', ' mouse', ',', ' and']
    """
    return re.findall(PIECE, text)
