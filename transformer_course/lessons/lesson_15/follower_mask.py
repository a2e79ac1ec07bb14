"""`follower_mask`: how it is tried."""

from itertools import pairwise

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import strided

SEVERAL = aspects.special(
    "several followers", weight=4.0, meaning="A token that occurred several times has several followers."
)
TWINS = aspects.special(
    "the same token twice in a row", weight=2.0, meaning="Where a token follows itself, position q is a follower too."
)
NONE = aspects.special("nothing comes again", meaning="Where no token comes again, the whole mask is False.")
SMALLEST = aspects.special(
    "a batch of one, a single token", meaning="A batch of one and rows of a single token give the right result too."
)


def cases(generator: np.random.Generator) -> list[Case]:
    b = int(generator.integers(3, 5))

    def pairs(batch: int, length: int) -> torch.Tensor:
        """Each token comes twice at most, and never twice in a row; one comes again early, one late, one last."""
        rows: list[list[int]] = []
        while len(rows) < batch:
            tokens = [0, *(generator.permutation(8) + 1).tolist()][: (length + 1) // 2]
            row = [0, tokens[1], 0, *generator.permutation(tokens[1:] + tokens[2:]).tolist()][:length]
            gaps = [at - row.index(token) for at, token in enumerate(row)]
            if gaps[-1] and max(gaps) >= length // 2 and all(one != other for one, other in pairwise(row)):
                swapped = {0: row[1], row[1]: 0} if len(rows) % 2 else {}  # it isn't always token 0 that comes early
                rows.append([swapped.get(token, token) for token in row])
        return torch.tensor(rows)

    def many(batch: int, length: int) -> torch.Tensor:
        """Three tokens in turn, in an order of its own for each row: each comes several times, never twice in a row."""
        rows = [np.tile(generator.permutation(3), length)[:length] for _ in range(batch)]
        return torch.from_numpy(np.stack(rows))

    def twins(batch: int) -> torch.Tensor:
        rows = [generator.permutation(8) for _ in range(batch)]
        return torch.tensor([[a, c, c, d, e, e, a] for a, c, d, e, *_ in (row.tolist() for row in rows)])

    different = torch.from_numpy(np.stack([generator.permutation(9)[:6] for _ in range(b)]))
    return [
        Case.of("on rows in which tokens come twice", tokens=pairs(b, 8)),
        Case.of("on longer rows", tokens=pairs(2, 11)),
        Case.of("on as many rows as tokens", tokens=pairs(6, 6)),
        Case.of("on large ids", tokens=pairs(b, 8) * 1024),  # alike in their last ten bits
        Case.of("on rows in which tokens come several times", SEVERAL, tokens=many(b, 9)),
        Case.of("on rows with the same token twice in a row", TWINS, tokens=twins(b)),
        Case.of("on a row of one token only", SEVERAL, tokens=torch.full((2, 4), 7)),
        Case.of("on rows in which no token comes again", NONE, tokens=different),
        Case.of("on a batch of one", SMALLEST, tokens=pairs(1, 8)),
        Case.of("on rows of a single token", SMALLEST, tokens=different[:, :1].clone()),
        Case.of("with tokens that are not contiguous", aspects.LAYOUT, tokens=strided(pairs(b, 7))),
    ]


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=2,
    cases=cases,
    aspects=(
        aspects.right_kind(
            "shape (batch, length, length), boolean", "The result is boolean: a square of all positions for each row."
        ),
        aspects.values(8.0),
        SEVERAL,
        TWINS,
        NONE,
        SMALLEST,
        aspects.LAYOUT,
        aspects.untouched(weight=0.5),
    ),
)
