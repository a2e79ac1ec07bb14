"""How sums are written for an adder: either end first, with zeros in front, and with a letter at each digit.

An entry of the capstone picks a writing; whoever examines it writes the sums, and reads the answers, as it says.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from transformer_course.length_generalization.letters import HINTS
from transformer_course.length_generalization.places import index_hints
from transformer_course.tasks.addition import ALPHABET, Pair
from transformer_course.tasks.alphabet import Alphabet

SUMS = Alphabet("0123456789+" + HINTS)
"""Sums with index hints: digits and plus have the same ids as without, and the letters follow."""

FIRST_DIGIT, LAST_DIGIT = 1, 10  # the ids of 0 and 9
FIRST_HINT = SUMS.encode(HINTS[0])[0]  # the id of a; that of b is one more, and so on
MOST_DIGITS = len(HINTS) - 1  # an answer may have one digit more than its numbers


@dataclass(frozen=True)
class SumWriting:
    """How a sum and its answer are written down. An entry's `FORMAT` holds these four by name.

    `least_first` writes the answer's ones first, and `operands_least_first` those of the two numbers. `index_hints`
    puts the letter of its place before each digit, in the numbers and in the answer, and needs the alphabet `SUMS`.
    `width="padded"` gives both numbers as many digits as the longer one has, and the answer one more, with zeros.

    >>> SumWriting().texts((12, 345))
    ('12+345', '753')
    >>> SumWriting(operands_least_first=True, width="padded").texts((12, 345))
    ('210+543', '7530')
    >>> SumWriting(operands_least_first=True, index_hints=True).texts((12, 345))
    ('a2b1+a5b4c3', 'a7b5c3')
    """

    least_first: bool = True
    operands_least_first: bool = False
    index_hints: bool = False
    width: Literal["padded"] | None = None

    def __post_init__(self) -> None:
        flags = (self.least_first, self.operands_least_first, self.index_hints)
        if not all(isinstance(flag, bool) for flag in flags) or self.width not in (None, "padded"):
            raise ValueError(
                "least_first, operands_least_first and index_hints are True or False; width is None or 'padded'"
            )

    @property
    def alphabet(self) -> Alphabet:
        """`SUMS` with index hints, that of the addition task without."""
        return SUMS if self.index_hints else ALPHABET

    def texts(self, pair: Pair) -> tuple[str, str]:
        """A sum and its answer, as texts."""
        width = max(len(str(number)) for number in pair) if self.width else 0
        first, second = (self._number(number, width, self.operands_least_first) for number in pair)
        return f"{first}+{second}", self._number(sum(pair), width + 1 if width else 0, self.least_first)

    def _number(self, number: int, width: int, least_first: bool) -> str:
        text = str(number).zfill(width)
        if not self.index_hints:
            return text[::-1] if least_first else text
        pairs = re.findall("..", index_hints(text))  # a letter and its digit
        return "".join(pairs[::-1] if least_first else pairs)

    def tensors(
        self, pairs: Sequence[Pair], source_length: int | None = None, target_length: int | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Source (n, source_length) and target (n, target_length) of all sums; see `Alphabet.tensors`.

        >>> SumWriting(index_hints=True).tensors([(7, 5)])
        (tensor([[12,  8, 11, 12,  6]]), tensor([[ 12,   3,  13,   2, 126]]))
        """
        return self.alphabet.tensors([self.texts(pair) for pair in pairs], source_length, target_length)

    def number(self, ids: Sequence[int] | torch.Tensor) -> int | None:
        """The number that a row of ids says before its end, or None where it says none. Letters aren't looked at.

        >>> SumWriting(index_hints=True).number([12, 3, 13, 2, 126])
        12
        """
        text = "".join(one for one in self.alphabet.answer(ids) if one not in HINTS)
        return int(text[::-1] if self.least_first else text) if text.isdecimal() else None
