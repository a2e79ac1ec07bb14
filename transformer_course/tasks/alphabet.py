"""Texts as rows of ids and back: what the tasks of lessons 4 to 7 share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from transformer_course.vocabulary import pad_sequences

PAD_ID = 0


@dataclass(frozen=True)
class Alphabet:
    """The characters of a task with ids from 1, then a start token and an end token; id 0 is padding.

    >>> letters = Alphabet("abc")
    >>> letters.start_id, letters.end_id, letters.size
    (4, 5, 6)
    """

    characters: str

    @property
    def start_id(self) -> int:
        """Stands before the first token that a decoder writes."""
        return len(self.characters) + 1

    @property
    def end_id(self) -> int:
        """Says that the answer is complete."""
        return len(self.characters) + 2

    @property
    def size(self) -> int:
        """How many ids there are, padding, start and end included: a model's `vocab_size`."""
        return len(self.characters) + 3

    def encode(self, text: str) -> list[int]:
        """The ids of a text.

        >>> Alphabet("abc").encode("cab")
        [3, 1, 2]

        Raises:
            ValueError: for a character that the alphabet does not hold.
        """
        return [self.characters.index(character) + 1 for character in text]

    def tensors(
        self, examples: Sequence[tuple[str, str]], source_length: int | None = None, target_length: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Source and target of all examples: (n, source_length) and (n, target_length), padded on the right.

        Every target ends with the end token. A length that is not given is that of the longest row.

        >>> Alphabet("abc").tensors([("ab", "ba"), ("c", "c")])
        (tensor([[1, 2],
                [3, 0]]), tensor([[2, 1, 5],
                [3, 5, 0]]))
        """
        sources = [self.encode(source) for source, _ in examples]
        targets = [[*self.encode(target), self.end_id] for _, target in examples]
        return (
            pad_sequences(sources, source_length or max(map(len, sources))),
            pad_sequences(targets, target_length or max(map(len, targets))),
        )

    def text(self, ids: Iterable[int]) -> str:
        """A row of ids as a text: `^` is the start, `.` the end, `_` padding.

        >>> Alphabet("abc").text(torch.tensor([4, 2, 1, 5, 0]))
        '^ba._'
        """
        marks = "_" + self.characters + "^."
        return "".join(marks[int(one)] for one in ids)

    def answer(self, ids: Iterable[int]) -> str:
        """What a row says before its end token, without padding.

        >>> Alphabet("abc").answer(torch.tensor([2, 1, 5, 3, 3]))
        'ba'
        """
        return self.text(ids).partition(".")[0].replace("_", "")
