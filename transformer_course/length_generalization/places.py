"""Which place a digit has: told by numbers for a model to use, and by letters in the text itself.

Sources: index hints are those of Zhou et al., "What Algorithms can Transformers Learn?", ICLR 2024, section 5; a
position for each digit of a number is that of McLeish et al., "Transformers Can Do Arithmetic with the Right
Embeddings", NeurIPS 2024, section 3.
"""

import re

import torch

from transformer_course.length_generalization.letters import HINTS


def digit_positions(tokens: torch.Tensor) -> torch.Tensor:
    """The place of each digit in its number: 1 for the ones, 2 for the tens, and so on.

    `tokens` are ids (batch, length) of sums in the alphabet of the addition task: the
    digits 0 to 9 have the ids 1 to 10, and no other id is a digit. A number is a
    run of digits, with its largest place first. Returns whole numbers of the same
    shape, 0 for anything that is not a digit.

    >>> digit_positions(torch.tensor([[4, 5, 11, 6, 7, 8, 0]]))  # 34+567, and padding
    tensor([[2, 1, 0, 3, 2, 1, 0]])
    """
    ### BEGIN SOLUTION
    digits = ((tokens >= 1) & (tokens <= 10)).flip(1)  # (batch, length), read from the right
    counted = digits.long().cumsum(dim=1)  # how many digits so far
    before = counted.masked_fill(digits, 0).cummax(dim=1).values  # how many of them belong to earlier numbers
    return ((counted - before) * digits).flip(1)
    ### END SOLUTION


def index_hints(problem: str) -> str:
    """The problem with a letter before each digit that gives its place: a for the ones, b for the tens.

    `HINTS[0]` is the letter of the ones, `HINTS[1]` that of the tens, and so on; a
    number has at most `len(HINTS)` digits. A number is a run of digits, with its
    largest place first. All other characters stay as they are.

    >>> index_hints("12+34=")
    'b1a2+b3a4='
    """

    ### BEGIN SOLUTION
    def hinted(number: re.Match[str]) -> str:
        digits = number.group()
        letters = HINTS[: len(digits)][::-1]  # the largest place first, as the digits
        return "".join(letter + digit for letter, digit in zip(letters, digits, strict=True))

    return re.sub("[0-9]+", hinted, problem)
    ### END SOLUTION
