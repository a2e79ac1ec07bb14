"""Sums of two numbers of two digits, as rows of nine tokens: 47+38=085 with all ones first is 74+83=580."""

import torch

SYMBOLS = "0123456789+="
PROMPT, ANSWER = 6, 3
"""How many tokens ask, and how many answer."""


def all_sums() -> torch.Tensor:
    """All 10,000 ordered pairs with their sums: (10000, 9), in order.

    >>> all_sums()[4738].tolist()
    [7, 4, 10, 8, 3, 11, 5, 8, 0]
    """
    first, second = torch.cartesian_prod(torch.arange(100), torch.arange(100)).unbind(1)
    plus, equals = torch.full_like(first, SYMBOLS.index("+")), torch.full_like(first, SYMBOLS.index("="))
    total = first + second
    return torch.stack(
        [first % 10, first // 10, plus, second % 10, second // 10, equals, total % 10, total // 10 % 10, total // 100],
        dim=1,
    )


def split_sums(seed: int = 0, tested: int = 1000) -> tuple[torch.Tensor, torch.Tensor]:
    """All sums in an order that `seed` decides: those to learn from, and those that are kept for the test.

    >>> learnt, test = split_sums()
    >>> len(learnt), len(test)
    (9000, 1000)
    """
    rows = all_sums()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))
    return rows[order[tested:]], rows[order[:tested]]


def as_text(row: torch.Tensor) -> str:
    """A row of ids as the model writes it, the ones first.

    >>> as_text(all_sums()[4738])
    '74+83=580'
    """
    return "".join(SYMBOLS[token] for token in row.tolist())
