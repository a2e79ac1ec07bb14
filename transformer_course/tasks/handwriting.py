"""Handwritten digits: 1,797 pictures of 8 by 8 pixels, written by 13 people.

Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998 (CC BY 4.0); the
test set of that collection, as scikit-learn ships it.
"""

import gzip
from dataclasses import dataclass

import torch

from transformer_course.data import data_file

SIDE = 8
BRIGHTEST = 16.0


@dataclass(frozen=True)
class Handwriting:
    """Pictures (n, 1, 8, 8) with numbers from 0 (blank) to 1 (ink), and the digits (n,) that they show."""

    train: tuple[torch.Tensor, torch.Tensor]
    test: tuple[torch.Tensor, torch.Tensor]


def handwriting(seed: int = 0, test: int = 500) -> Handwriting:
    """All pictures, shuffled and split. The same people wrote both parts.

    >>> data = handwriting()
    >>> data.train[0].shape, data.test[1].shape
    (torch.Size([1297, 1, 8, 8]), torch.Size([500]))
    """
    images, digits = in_file_order()
    order = shuffled_lines(seed)
    known, asked = order[test:], order[:test]
    return Handwriting((images[known], digits[known]), (images[asked], digits[asked]))


def handwriting_in_thirds() -> list[Handwriting]:
    """Three splits: in each, another third of the file is for the test, in one piece.

    The file doesn't name its writers, but it has what one person wrote together. So the writers of test and training
    are different people, but for one at each end of the third.

    >>> [len(data.test[1]) for data in handwriting_in_thirds()]
    [599, 599, 599]
    """
    images, digits = in_file_order()
    thirds = []
    for asked in torch.arange(len(digits)).chunk(3):
        known = torch.ones(len(digits), dtype=torch.bool)
        known[asked] = False
        thirds.append(Handwriting((images[known], digits[known]), (images[asked], digits[asked])))
    return thirds


def in_file_order() -> tuple[torch.Tensor, torch.Tensor]:
    """All pictures (1797, 1, 8, 8) and their digits (1797,), line by line."""
    lines = gzip.decompress(data_file("digits.csv.gz").read_bytes()).decode("ascii").splitlines()
    table = torch.tensor([[float(number) for number in line.split(",")] for line in lines])  # (1797, 65)
    return table[:, :-1].reshape(-1, 1, SIDE, SIDE) / BRIGHTEST, table[:, -1].long()


def shuffled_lines(seed: int = 0) -> torch.Tensor:
    """The lines of the file in the order of `handwriting`: those of the test come first."""
    return torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
