"""Handwritten digits: 1,797 pictures of 8 by 8 pixels, written by 13 people.

Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998 (CC BY 4.0); the
test set of that collection, as scikit-learn ships it.
"""

import gzip
from dataclasses import dataclass

import torch

from course.data import data_file

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
    lines = gzip.decompress(data_file("digits.csv.gz").read_bytes()).decode("ascii").splitlines()
    table = torch.tensor([[float(number) for number in line.split(",")] for line in lines])  # (1797, 65)
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(seed))]
    images, digits = table[:, :-1].reshape(-1, 1, SIDE, SIDE) / BRIGHTEST, table[:, -1].long()
    return Handwriting((images[test:], digits[test:]), (images[:test], digits[:test]))
